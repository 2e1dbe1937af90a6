-- task-events: tasks by how many events they caused.
select comm, pid, count(*) as events from events
group by pid, comm
order by events desc, pid
limit coalesce(:limit, 20);
