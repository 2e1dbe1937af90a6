-- longest-slices: where a task ran longest without a break.
select ts, cpu, comm, pid, prio, ns(dur) as ran, end_state
from slices
where pid != 0
order by dur desc
limit coalesce(:limit, 20);
