-- wakeups: tasks that waited longest for a CPU after they had been woken.
-- needs: sched:sched_switch sched:sched_wak*
select ts, run_cpu as cpu, pid, comm, latency as ns, buffer,
       case when in_interrupt then 'woken by an interrupt'
            when waker_pid is null then 'woken'
            else 'woken by ' || coalesce(nullif(waker_comm, '') || '-', 'task ') || waker_pid end
       || coalesce(' on CPU ' || waker_cpu, '') as text
from wakeups
where latency is not null
order by latency desc, ts
limit :limit;
