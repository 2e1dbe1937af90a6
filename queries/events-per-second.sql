-- events-per-second: events in each second of the trace, by type.
select (ts - (select min(ts) from events)) / 1000000000 as second, system || ':' || event as event,
       count(*) as count
from events
group by 1, 2
order by 1, 3 desc;
