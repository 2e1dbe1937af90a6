-- softirq-time: softirqs by the time spent in them, and how long they had waited.
select name, count(*) as times, ns(sum(dur)) as time, ns(avg(dur)) as average, ns(max(dur)) as worst,
       ns(p99(latency)) as waited_p99, ns(max(latency)) as waited_worst
from softirqs
where open is null
group by name
order by sum(dur) desc;
