-- syscall-time: system calls by the time spent in them.
select name, count(*) as calls, ns(sum(dur)) as time, ns(avg(dur)) as average, ns(p99(dur)) as p99,
       ns(max(dur)) as worst, sum(error is not null) as errors
from syscalls
where open is null
group by name
order by sum(dur) desc
limit coalesce(:limit, 20);
