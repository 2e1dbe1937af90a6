-- hot-stacks: the stacks that were recorded most often.
select event, count(*) as times, replace(stack, ';', char(10)) as stack
from samples
group by event, stack
order by times desc
limit coalesce(:limit, 5);
