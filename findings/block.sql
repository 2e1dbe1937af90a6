-- block: requests to block devices that took longest.
select ts, cpu, pid, comm, dur as ns, buffer,
       coalesce(rwbs, 'request') || ' of ' || coalesce(bytes, '?') || ' bytes at sector ' || coalesce(sector, '?')
       || ' of device ' || coalesce(device, '?')
       || case when error != 0 then ', error ' || error else '' end as text
from block
where open is null
order by dur desc, ts
limit :limit;
