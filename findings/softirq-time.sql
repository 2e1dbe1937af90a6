-- softirq-time: softirqs that took most time in all.
select cast(total(dur) as integer) as ns, buffer,
       name || ', ' || count(*) || case count(*) when 1 then ' time' else ' times' end as text
from softirqs
where open is null
group by buffer, vec, name
order by total(dur) desc, vec
limit :limit;
