-- migrations: tasks that moved from one CPU to another, and how often.
with moved as (
    select pid, comm, cpu, open, lag(cpu) over (partition by pid order by ts) as before
    from slices
    where pid != 0
)
select comm, pid, sum(case when open in ('start', 'both') then 0 else 1 end) as runs, sum(cpu != before) as migrations
from moved
group by pid, comm
having migrations > 0
order by migrations desc
limit coalesce(:limit, 20);
