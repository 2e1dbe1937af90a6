-- slow-syscalls: the system calls that took longest.
select ts, cpu, comm, pid, name, ns(dur) as time, ret, args
from syscalls
where open is null
order by dur desc
limit coalesce(:limit, 10);
