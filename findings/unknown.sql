-- unknown: longest stretches in which the trace does not say which task had the CPU.
with stretches as materialized (select ts, dur, cpu, buffer from slices where pid is null and dur > 0),
     sums as (select count(*) as stretches, cast(total(dur) as integer) as ns from stretches)
select null as ts, null as cpu, ns, null as buffer, stretches || ' stretches in all' as text
from sums
where stretches > 1
union all
select * from (
    select ts, cpu, dur, buffer, 'it is not known which task ran'
    from stretches
    order by dur desc, ts
    limit :limit);
