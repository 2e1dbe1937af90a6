-- irqs: interrupt handlers that ran longest.
--
-- If no handler ended and there are several, the ends were probably not recorded.
select ts, cpu, pid, comm, dur as ns, buffer,
       name || ' (irq ' || irq || ')' || case when open = 'end' then ', until when is not known' else '' end as text
from irqs
where open is null
      or (open = 'end' and dur > 0
          and (exists (select 1 from irqs where open is null or open = 'start')
               or (select count(*) from (select 1 from irqs limit 2)) = 1))
order by dur desc, ts
limit :limit;
