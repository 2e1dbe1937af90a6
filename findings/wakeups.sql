-- wakeups: tasks that waited longest for a CPU after they had been woken.
-- needs: sched:sched_switch sched:sched_wak*
--
-- A wakeup without a known end has no latency. How long the task waited at least is in its states.
with open as materialized (
         select ts, cpu, pid, comm, dur, buffer
         from states
         where state = 'runnable' and reason in ('woken', 'new') and open = 'end' and dur > 0
         order by dur desc, ts
         limit :limit),
     waits as (
         select ts, run_cpu as cpu, pid, comm, latency as ns, buffer, in_interrupt, waker_pid, waker_comm, waker_cpu, open
         from wakeups
         where latency is not null
         union all
         select o.ts, o.cpu, o.pid, o.comm, o.dur, o.buffer, in_interrupt, waker_pid, waker_comm, waker_cpu, 'end'
         from open o left join wakeups w on w.ts = o.ts and w.pid = o.pid and w.buffer = o.buffer)
select ts, cpu, pid, comm, ns, buffer,
       case when in_interrupt then 'woken by an interrupt'
            when waker_pid is null then 'woken'
            when waker_pid = 0 then 'woken by the idle task'
            else 'woken by ' || coalesce(nullif(waker_comm, '') || '-', 'task ') || waker_pid end
       || coalesce(' on CPU ' || waker_cpu, '')
       || case when open = 'end' then ', until when is not known' else '' end as text
from waits
order by ns desc, ts
limit :limit;
