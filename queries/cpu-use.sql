-- cpu-use: how much of its time each CPU was busy, as far as the trace shows it.
select cpu, ns(sum(dur) filter (where pid != 0)) as busy, ns(sum(dur) filter (where pid = 0)) as idle,
       ns(sum(dur) filter (where pid is null)) as unknown,
       round(100.0 * total(dur) filter (where pid != 0) / total(dur) filter (where pid is not null), 1) as percent
from slices
group by cpu
order by cpu;
