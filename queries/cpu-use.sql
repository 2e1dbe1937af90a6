-- cpu-use: how much of its time each CPU was busy; percent: at least, and at most if it was busy while that is unknown.
select cpu, ns(sum(dur) filter (where pid != 0)) as busy, ns(sum(dur) filter (where pid = 0)) as idle,
       ns(sum(dur) filter (where pid is null)) as unknown,
       round(100.0 * total(dur) filter (where pid != 0) / total(dur), 1) as percent,
       round(100.0 * total(dur) filter (where pid is not 0) / total(dur), 1) as at_most
from slices
group by cpu
order by cpu;
