-- irq-time: interrupts whose handlers took most time in all.
select cast(total(dur) as integer) as ns, buffer,
       name || ' (irq ' || irq || '), ' || count(*) || case count(*) when 1 then ' time' else ' times' end as text
from irqs
where open is null
group by buffer, irq, name
order by total(dur) desc, irq
limit :limit;
