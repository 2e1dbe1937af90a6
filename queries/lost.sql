-- lost: where events were lost, and how many.
select ts, cpu, buffer, coalesce(events, '(not known)') as events, ns(ts - since) as "in"
from lost
order by ts;
