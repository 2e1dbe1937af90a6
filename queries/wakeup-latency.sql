-- wakeup-latency: how long tasks waited for a CPU after they had been woken.
select comm, pid, count(latency) as wakeups, ns(avg(latency)) as average,
       ns(p50(latency)) as p50, ns(p99(latency)) as p99, ns(max(latency)) as worst
from wakeups
where latency is not null
group by pid, comm
order by max(latency) desc
limit coalesce(:limit, 20);
