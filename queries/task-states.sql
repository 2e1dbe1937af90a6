-- task-states: what tasks did with their time: running, waiting for a CPU, sleeping, blocked, or not known.
select comm, pid, ns(sum(dur) filter (where state = 'running')) as running,
       ns(sum(dur) filter (where state = 'runnable')) as runnable,
       ns(sum(dur) filter (where state = 'sleeping')) as sleeping,
       ns(sum(dur) filter (where state = 'blocked')) as blocked,
       ns(sum(dur) filter (where state = 'unknown')) as unknown
from states
where pid != 0
group by pid, comm
order by sum(dur) filter (where state = 'running') desc
limit coalesce(:limit, 20);
