-- idle: how long CPUs were idle at a time.
select cpu, count(*) as times, ns(sum(dur)) as time, ns(avg(dur)) as average, ns(p50(dur)) as p50,
       ns(max(dur)) as longest
from slices
where pid = 0
group by cpu
order by cpu;
