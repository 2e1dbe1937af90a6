-- tasks: tasks that ran most.
-- needs: sched:sched_switch
select pid, comm, running as ns, buffer,
       printf('%.1f%% of a CPU, ', 100.0 * running / (select max(dur, 1) from files)) ||
       case switches when 0 then 'no switch to it was recorded' when 1 then 'ran 1 time'
                     else printf('ran %d times', switches) end as text
from tasks
where pid != 0 and running > 0
order by running desc, pid
limit :limit;
