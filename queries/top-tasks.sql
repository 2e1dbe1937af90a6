-- top-tasks: tasks by how much they ran.
select comm, pid, ns(sum(dur)) as running, sum(case when open in ('start', 'both') then 0 else 1 end) as times, ns(avg(dur)) as average,
       ns(max(dur)) as longest
from slices
where pid != 0
group by pid, comm
order by sum(dur) desc
limit coalesce(:limit, 20);
