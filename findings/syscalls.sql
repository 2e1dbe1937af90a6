-- syscalls: system calls that took longest, without those that are there to wait.
--
-- If no call ended and there are several, the ends were probably not recorded.
select ts, cpu, pid, comm, dur as ns, buffer,
       case when coalesce(name, '') != '' then name || '(' || coalesce(args, '') || ')'
            else 'system call ' || nr end
       || case when open = 'end' then ', until when is not known' else coalesce(' = ' || coalesce(error, ret), '') end as text
from syscalls
where (open is null
       or (open = 'end' and dur > 0
           and (exists (select 1 from syscalls where open is null or open = 'start')
                or (select count(*) from (select 1 from syscalls limit 2)) = 1)))
      and coalesce(name, '') not in (
          'clock_nanosleep', 'epoll_pwait', 'epoll_pwait2', 'epoll_wait', 'futex', 'futex_wait', 'futex_waitv',
          'io_getevents', 'io_pgetevents', 'nanosleep', 'pause', 'poll', 'ppoll', 'pselect6', 'restart_syscall',
          'rt_sigsuspend', 'rt_sigtimedwait', 'select', 'wait4', 'waitid')
order by dur desc, ts
limit :limit;
