-- losses: where events were lost.
with gaps as materialized (select ts, ts - since as dur, cpu, events, buffer, open in ('end', 'both') as cut from lost),
     sums as (select count(*) as gaps, count(events) as known, nullif(cast(total(events) as integer), 0) as events from gaps)
select null as ts, null as dur, null as cpu, events as count, null as buffer,
       'lost in ' || gaps || ' places'
       || case when known < gaps then ', the number is not known of ' || (gaps - known) else '' end as text
from sums
where gaps > 1
union all
select * from (
    select ts, dur, cpu, events, buffer,
           case when cut then 'lost when the recording was cut' else 'lost before this time' end
           || case when events is null then ', the number is not known' else '' end
    from gaps
    order by coalesce(events, 0) desc, dur desc, ts
    limit :limit);
