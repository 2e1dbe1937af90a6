-- blocked: tasks that were blocked longest, in uninterruptible sleep.
select ts, cpu, pid, comm, dur as ns, buffer,
       coalesce('blocked in ' || reason, 'blocked')
       || case when open = 'end' then ', until when is not known' else '' end as text
from states
where state = 'blocked' and dur > 0 and (open is null or open = 'end')
order by dur desc, ts
limit :limit;
