-- who-wakes-whom: pairs of tasks, how often one woke the other, and how long it took.
select case when in_interrupt then '(interrupt)' else waker_comm end as waker, comm as woken,
       count(*) as times, ns(avg(latency)) as average, ns(max(latency)) as worst
from wakeups
group by 1, 2
order by times desc
limit coalesce(:limit, 30);
