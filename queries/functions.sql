-- functions: functions of a call graph by the time spent in themselves.
select func, count(*) as calls, ns(sum(dur) filter (where not recursive)) as time, ns(sum(self)) as self, ns(avg(dur)) as average,
       ns(max(dur)) as worst
from calls
where open is null
group by func
order by sum(self) desc
limit coalesce(:limit, 30);
