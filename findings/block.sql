-- block: requests to block devices that took longest.
--
-- If no request ended and there are several, the ends were probably not recorded.
select ts, cpu, pid, comm, dur as ns, buffer,
       coalesce(rwbs, 'request') || ' of ' || coalesce(bytes, '?') || ' bytes at sector ' || coalesce(sector, '?')
       || ' of device ' || coalesce(device, '?')
       || case when open = 'end' then ', until when is not known'
               when error != 0 then ', error ' || error
               else '' end as text
from block
where open is null
      or (open = 'end' and dur > 0
          and (exists (select 1 from block where open is null or open = 'start')
               or (select count(*) from (select 1 from block limit 2)) = 1))
order by dur desc, ts
limit :limit;
