-- wakeup-histogram: the distribution of wakeup latencies, in nanoseconds.
select hist(latency) as "nanoseconds from wakeup to running" from wakeups where latency is not null;
