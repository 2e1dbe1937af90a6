-- cpu-use: how much of its time each CPU was busy.
select cpu, ns(sum(dur) filter (where pid != 0)) as busy, ns(sum(dur) filter (where pid = 0)) as idle,
       round(100.0 * total(dur) filter (where pid != 0) / total(dur), 1) as percent
from slices
group by cpu
order by cpu;
