-- event-counts: event types by how often they occur.
select system, event, count(*) as count
from events
group by event, system
order by count desc, system, event;
