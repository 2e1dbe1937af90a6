-- blocked-reasons: where tasks were blocked, and for how long.
select comm, coalesce(reason, '(not recorded)') as reason, count(*) as times, ns(sum(dur)) as time,
       ns(max(dur)) as worst
from states
where state = 'blocked'
group by comm, reason
order by sum(dur) desc
limit coalesce(:limit, 20);
