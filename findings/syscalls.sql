-- syscalls: system calls that took longest, without those that are there to wait.
select ts, cpu, pid, comm, dur as ns, buffer,
       case when coalesce(name, '') != '' then name || '(' || coalesce(args, '') || ')'
            else 'system call ' || nr end
       || coalesce(' = ' || coalesce(error, ret), '') as text
from syscalls
where open is null
      and coalesce(name, '') not in (
          'clock_nanosleep', 'epoll_pwait', 'epoll_pwait2', 'epoll_wait', 'futex', 'futex_wait', 'futex_waitv',
          'io_getevents', 'io_pgetevents', 'nanosleep', 'pause', 'poll', 'ppoll', 'pselect6', 'restart_syscall',
          'rt_sigsuspend', 'rt_sigtimedwait', 'select', 'wait4', 'waitid')
order by dur desc, ts
limit :limit;
