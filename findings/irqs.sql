-- irqs: interrupt handlers that ran longest.
select ts, cpu, pid, comm, dur as ns, buffer, name || ' (irq ' || irq || ')' as text
from irqs
where open is null
order by dur desc, ts
limit :limit;
