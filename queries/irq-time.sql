-- irq-time: interrupts by the time spent in their handlers.
select irq, name, count(*) as times, ns(sum(dur)) as time, ns(avg(dur)) as average,
       ns(max(dur)) as worst
from irqs
where open is null
group by irq, name
order by sum(dur) desc;
