-- bursts: stretches with at least ten times as many events as on average.
--
-- The trace is cut into 1000 pieces of the same length. A burst is made of pieces one behind the other that have at least
-- 100 events each, and ten times as many as a piece has on average.
with trace as materialized (select ts as first, dur / 1000 + 1 as width, events / 1000.0 as average from files),
     pieces as materialized (
         select (ts - (select first from trace)) / (select width from trace) as piece, count(*) as events
         from events
         group by 1),
     many as materialized (
         select piece, events, piece - row_number() over (order by piece) as burst
         from pieces
         where events >= 100 and events >= 10 * (select average from trace)),
     bursts as materialized (
         select first + min(piece) * width as ts, count(*) * width as dur, sum(events) as count
         from many, trace
         group by burst
         order by count desc, ts
         limit :limit)
select ts, dur, count,
       (select printf('events, most of them %s:%s (%d)', system, event, count(*))
        from events
        where events.ts >= bursts.ts and events.ts < bursts.ts + bursts.dur
        group by event, system
        order by count(*) desc, system, event
        limit 1) as text
from bursts
order by count desc, ts;
