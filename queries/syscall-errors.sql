-- syscall-errors: system calls that failed, by task, call and error.
select comm, pid, name, error, count(*) as times
from syscalls
where error is not null
group by comm, pid, name, error
order by times desc, comm, name
limit coalesce(:limit, 30);
