-- block-latency: how long block devices took, by device and kind of request.
select device, rwbs, count(*) as requests, sum(bytes) as bytes, ns(avg(dur)) as average,
       ns(p50(dur)) as p50, ns(p99(dur)) as p99, ns(max(dur)) as worst
from block
where open is null
group by device, rwbs
order by sum(dur) desc;
