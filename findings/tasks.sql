-- tasks: tasks that ran most.
-- needs: sched:sched_switch
select pid, comm, running as ns, buffer,
       printf('%.1f%% of a CPU, ran %d %s', 100.0 * running / (select max(dur, 1) from files), switches,
              case switches when 1 then 'time' else 'times' end) as text
from tasks
where pid != 0 and running > 0
order by running desc, pid
limit :limit;
