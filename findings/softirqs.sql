-- softirqs: softirqs that ran longest.
select ts, cpu, pid, comm, dur as ns, buffer, name as text
from softirqs
where open is null
order by dur desc, ts
limit :limit;
