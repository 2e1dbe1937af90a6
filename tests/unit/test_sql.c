// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SQL into commands for tracefs. A case is a query and either the lines that come out, each with
 * its file, or the message; options stand before the query as on the command line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>

#include "base/vec.h"
#include "sql_events.h"

#define WAKEUP "FROM sched_waking AS start JOIN sched_switch AS end ON start.pid = end.next_pid"

#define ENTER_TRIGGER "events/raw_syscalls/sys_enter/trigger"
#define WAKING	      "events/sched/sched_waking/trigger "
#define SWITCH	      "events/sched/sched_switch/trigger "
#define KMALLOC	      "events/kmem/kmalloc/trigger "

static const struct {
	const char *query;
	const char *lines; /* "FILE LINE\n"… */
	struct sql_options opt;
} good[] = {
	/* histograms */
	{"SELECT pid FROM sched_waking", WAKING "hist:keys=pid\n"},
	{"select\n pid  -- a key\n,prio from sched_waking;", WAKING "hist:keys=pid,prio\n"},
	{"SELECT pid AS p, comm c FROM sched_waking", WAKING "hist:keys=pid,comm\n"},
	{"SELECT sched.sched_waking.pid, sched_waking.prio, w.comm FROM sched.sched_waking AS w",
	 WAKING "hist:keys=pid,prio,comm\n"},
	{"SELECT CAST(common_pid AS comm), CAST(id AS syscall) FROM sys_enter",
	 ENTER_TRIGGER " hist:keys=common_pid.execname,id.syscall\n"},
	{"SELECT CAST(call_site as Sym-Offset), CAST(bytes_req AS _COUNTER_), "
	 "CAST(bytes_alloc AS __COUNTER__) FROM kmalloc",
	 KMALLOC "hist:keys=call_site.sym-offset:vals=bytes_req,bytes_alloc\n"},
	{"SELECT CAST(call_site AS sym), CAST(ptr AS hex), CAST(bytes_req AS LOG), "
	 "CAST(bytes_alloc AS log2) FROM kmalloc",
	 KMALLOC "hist:keys=call_site.sym,ptr.hex,bytes_req.log2,bytes_alloc.log2\n"},
	{"SELECT CAST(prio AS buckets=0x10) FROM sched_waking",
	 WAKING "hist:keys=prio.buckets=16\n"},
	{"SELECT TIMESTAMP_USECS, TIMESTAMP, STACKTRACE, CPU, COMM FROM sys_enter",
	 ENTER_TRIGGER " hist:keys=common_timestamp.usecs,common_timestamp,stacktrace,common_cpu,"
		       "common_pid.execname\n"},
	{"SELECT \\from FROM drop_region WHERE drop_region.from = 1",
	 "events/regmap/drop_region/trigger hist:keys=from if from == 1\n"},
	{"SELECT second.twice.middle FROM second.twice",
	 "events/second/twice/trigger hist:keys=middle\n"},
	{"SELECT pid FROM sched_waking",
	 "instances/mine/" WAKING "hist:keys=pid\n",
	 {.instance = "mine"}},

	/* conditions */
	{"SELECT pid FROM sched_waking WHERE prio < 100", WAKING "hist:keys=pid if prio < 100\n"},
	{"SELECT pid FROM sched_waking WHERE prio = 1 && prio == 2 AND prio != 3, prio <> 4 "
	 "&& prio <= 5 && prio >= 6 && prio > -7 && prio & 0x10",
	 WAKING "hist:keys=pid if prio == 1 && prio == 2 && prio != 3 && prio != 4 && prio <= 5 && "
		"prio >= 6 && prio > -7 && prio & 16\n"},
	{"SELECT pid FROM sched_waking WHERE comm == \"a b\" || comm ~ 'x*' or comm != 'a\"b'",
	 WAKING "hist:keys=pid if comm == \"a b\" || comm ~ \"x*\" || comm != 'a\"b'\n"},
	{"SELECT pid FROM sched_waking WHERE prio < 1 || prio > 2 && pid > 5",
	 WAKING "hist:keys=pid if prio < 1 || (prio > 2 && pid > 5)\n"},
	{"SELECT pid FROM sched_waking WHERE ((prio < 1 || (prio > 2))) && !(pid = 5) && not pid = "
	 "6",
	 WAKING "hist:keys=pid if (prio < 1 || prio > 2) && !(pid == 5) && !(pid == 6)\n"},
	{"SELECT pid AS p FROM sched_waking WHERE p > 3 && COMM == 'x' && CPU < 2",
	 WAKING "hist:keys=pid if pid > 3 && COMM == \"x\" && CPU < 2\n"},
	{"SELECT filename FROM sys_enter_openat WHERE filename ~ '/etc*' || filename == 0",
	 "events/syscalls/sys_enter_openat/trigger hist:keys=filename if filename ~ \"/etc*\" || "
	 "filename == 0\n"},

	/* synthetic events */
	{"SELECT start.pid, end.prev_comm " WAKEUP,
	 "dynamic_events s:x pid_t pid; char prev_comm[16];\n" WAKING
	 "hist:keys=pid:x__1=pid\n" SWITCH "hist:keys=next_pid:x__pid=$x__1,x__prev_comm=prev_comm:"
	 "onmatch(sched.sched_waking).x($x__pid,$x__prev_comm)\n"},
	{"SELECT end.next_comm AS comm, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS "
	 "lat " WAKEUP " WHERE start.prio < 100 && end.next_prio < 100 && end.next_comm == \"rt\"",
	 "dynamic_events s:x char comm[16]; u64 lat;\n" WAKING
	 "hist:keys=pid:x__1=common_timestamp.usecs if prio < 100\n" SWITCH
	 "hist:keys=next_pid:x__comm=next_comm,x__lat=common_timestamp.usecs-$x__1:"
	 "onmatch(sched.sched_waking).x($x__comm,$x__lat) if next_prio < 100 && next_comm == "
	 "\"rt\"\n"},
	{"SELECT TIMESTAMP_DELTA d, TIMESTAMP_DELTA_USECS AS u FROM sched_waking JOIN sched_switch "
	 "ON sched_switch.next_pid == sched_waking.pid AND sched_waking.prio = "
	 "sched.sched_switch.next_prio",
	 "dynamic_events s:x u64 d; u64 u;\n" WAKING
	 "hist:keys=pid,prio:x__1=common_timestamp,x__2=common_timestamp.usecs\n" SWITCH
	 "hist:keys=next_pid,next_prio:x__d=common_timestamp-$x__1,"
	 "x__u=common_timestamp.usecs-$x__2:onmatch(sched.sched_waking).x($x__d,$x__u)\n"},
	{"SELECT pid, next_prio - (prio - prev_prio) AS a, prio * 2 + next_prio / 3 AS b, "
	 "prio + target_cpu AS c, start.prio " WAKEUP,
	 "dynamic_events s:x pid_t pid; s32 a; s32 b; s32 c; s32 prio;\n" WAKING
	 "hist:keys=pid:x__1=pid,x__2=prio,x__3=prio+target_cpu\n" SWITCH
	 "hist:keys=next_pid:x__pid=$x__1,x__a=next_prio-$x__2+prev_prio,"
	 "x__b=$x__2*2+next_prio/3,x__c=$x__3,x__prio=$x__2:"
	 "onmatch(sched.sched_waking).x($x__pid,$x__a,$x__b,$x__c,$x__prio)\n"},
	{"SELECT a.call_site, a.ptr, a.bytes_req AS req, a.gfp_flags, a.COMM, b.CPU, "
	 "b.STACKTRACE AS st FROM kmalloc AS a JOIN kfree AS b ON a.ptr = b.ptr",
	 "dynamic_events s:x u64 call_site; u64 ptr; u64 req; gfp_t gfp_flags; char common_comm[]; "
	 "u32 common_cpu; unsigned long st[];\n" KMALLOC
	 "hist:keys=ptr:x__1=call_site,x__2=ptr,x__3=bytes_req,x__4=gfp_flags,x__5=COMM\n"
	 "events/kmem/kfree/trigger hist:keys=ptr:x__call_site=$x__1,x__ptr=$x__2,x__req=$x__3,"
	 "x__gfp_flags=$x__4,x__common_comm=$x__5,x__common_cpu=common_cpu,x__st=stacktrace:"
	 "onmatch(kmem.kmalloc).x($x__call_site,$x__ptr,$x__req,$x__gfp_flags,$x__common_comm,"
	 "$x__common_cpu,$x__st)\n"},
	{"SELECT name, ret, a.TIMESTAMP FROM irq_handler_entry a JOIN irq_handler_exit b "
	 "ON a.irq = b.irq",
	 "dynamic_events s:x char name[]; s32 ret; u64 common_timestamp;\n"
	 "events/irq/irq_handler_entry/trigger hist:keys=irq:x__1=name,x__2=common_timestamp\n"
	 "events/irq/irq_handler_exit/trigger hist:keys=irq:x__name=$x__1,x__ret=ret,"
	 "x__common_timestamp=$x__2:onmatch(irq.irq_handler_entry)."
	 "x($x__name,$x__ret,$x__common_timestamp)\n"},
	{"SELECT a.pid, b.pid AS other FROM sched_waking a JOIN sched_waking b ON a.pid = b.pid "
	 "WHERE b.prio > 3",
	 "dynamic_events s:x pid_t pid; pid_t other;\n" WAKING "hist:keys=pid:x__1=pid\n" WAKING
	 "hist:keys=pid:x__pid=$x__1,x__other=pid:onmatch(sched.sched_waking).x($x__pid,$x__other)"
	 " if prio > 3\n"},

	/* actions */
	{"SELECT TIMESTAMP_DELTA AS lat " WAKEUP,
	 "dynamic_events s:x u64 lat;\n" WAKING "hist:keys=pid:x__1=common_timestamp\n" SWITCH
	 "hist:keys=next_pid:x__lat=common_timestamp-$x__1:onmax($x__lat).x($x__lat)\n",
	 {.when = SQL_NEW_MAXIMUM, .column = "lat"}},
	{"SELECT TIMESTAMP_DELTA AS lat " WAKEUP,
	 "dynamic_events s:x u64 lat;\n" WAKING "hist:keys=pid:x__1=common_timestamp\n" SWITCH
	 "hist:keys=next_pid:x__lat=common_timestamp-$x__1:onchange($x__lat).snapshot()\n",
	 {.when = SQL_CHANGE, .column = "$lat", .snapshot = true}},
	{"SELECT TIMESTAMP_DELTA AS lat " WAKEUP,
	 "dynamic_events s:x u64 lat;\n" WAKING "hist:keys=pid:x__1=common_timestamp\n" SWITCH
	 "hist:keys=next_pid:x__lat=common_timestamp-$x__1:onmax($x__lat).save(next_comm,prev_pid)"
	 ":onmax($x__lat).x($x__lat):onmax($x__lat).snapshot()\n",
	 {.when = SQL_NEW_MAXIMUM,
	  .column = "lat",
	  .trace = true,
	  .snapshot = true,
	  .save = (const char *const[]){"next_comm", "prev_pid"},
	  .nr_save = 2}},
};

static const struct {
	const char *query;
	const char *message;
	const char *pointed; /* what the carets are below */
	struct sql_options opt;
} wrong[] = {
	/* words */
	{"", "line 1, column 1: SELECT expected, but the query ends here", ""},
	{"UPDATE x", "line 1, column 1: SELECT expected, not 'UPDATE'", "UPDATE"},
	{"SELECT", "line 1, column 7: a field expected, but the query ends here", ""},
	{"SELECT * FROM sched_waking", "line 1, column 8: '*' cannot be selected: name the fields",
	 "*"},
	{"SELECT pid, FROM sched_waking", "line 1, column 13: a field expected, not 'FROM'",
	 "FROM"},
	{"SELECT pid sched_waking",
	 "line 1, column 24: ',' or FROM expected, but the query ends here", ""},
	{"SELECT pid AS a.b FROM sched_waking",
	 "line 1, column 15: a name has letters, digits and '_' only", "a.b"},
	{"SELECT pid AS FROM sched_waking", "line 1, column 15: a name expected, not 'FROM'",
	 "FROM"},
	{"SELECT pid FROM", "line 1, column 16: an event expected, but the query ends here", ""},
	{"SELECT pid FROM sched_waking GROUP BY pid",
	 "line 1, column 30: there is no GROUP BY: a histogram's keys are the columns themselves",
	 "GROUP"},
	{"SELECT pid FROM sched_waking AS w extra",
	 "line 1, column 35: JOIN, WHERE or the end of the query expected, not 'extra'", "extra"},
	{"SELECT pid FROM sched_waking ?", "line 1, column 30: unexpected character '?'", "?"},
	{"SELECT pid FROM sched_waking WHERE comm == \"x",
	 "line 1, column 44: the text has no closing quote", "\"x"},
	{"SELECT pid FROM sched_waking WHERE pid == 12ab", "line 1, column 43: '12ab' is no number",
	 "12ab"},
	{"SELECT pid FROM sched_waking WHERE pid == 0x", "line 1, column 43: '0x' is no number",
	 "0x"},
	{"SELECT pid FROM sched_waking WHERE pid == 18446744073709551616",
	 "line 1, column 43: the number does not fit into 64 bits", "18446744073709551616"},
	{"SELECT CAST(pid hex) FROM sched_waking", "line 1, column 17: AS expected, not 'hex'",
	 "hex"},
	{"SELECT CAST(pid AS hexx) FROM sched_waking",
	 "line 1, column 20: a field cannot be cast to 'hexx'; did you mean 'hex'?", "hexx"},
	{"SELECT CAST(pid AS money) FROM sched_waking",
	 "line 1, column 20: a field cannot be cast to 'money': it can be hex, sym, sym-offset, "
	 "syscall, execname, log2, buckets=N or _COUNTER_",
	 "money"},
	{"SELECT CAST(pid AS sym-off) FROM sched_waking",
	 "line 1, column 24: 'offset' expected, not 'off'", "off"},
	{"SELECT CAST(pid AS buckets) FROM sched_waking",
	 "line 1, column 27: '=' and the size of a bucket expected, not ')'", ")"},
	{"SELECT CAST(pid AS buckets=0) FROM sched_waking",
	 "line 1, column 28: the size of a bucket expected, not '0'", "0"},
	{"SELECT (pid FROM sched_waking", "line 1, column 13: ')' expected, not 'FROM'", "FROM"},
	{"SELECT pid\nFROM sched_waking\nWHERE prio <",
	 "line 3, column 13: a number or a text in quotes expected, but the query ends here", ""},
	{"SELECT pid FROM sched_waking WHERE comm = bash",
	 "line 1, column 43: a number or a text expected; a text stands in quotes: \"bash\"",
	 "bash"},
	{"SELECT pid FROM sched_waking WHERE 5 < prio",
	 "line 1, column 36: a field expected: it stands on the left of a comparison", "5"},
	{"SELECT pid FROM sched_waking WHERE comm LIKE 'x%'",
	 "line 1, column 41: there is no LIKE: write field ~ \"abc*\"", "LIKE"},
	{"SELECT pid FROM sched_waking WHERE (prio < 5",
	 "line 1, column 45: AND, OR or ')' expected, but the query ends here", ""},
	{"SELECT pid FROM sched_waking WHERE prio < 5 prio > 3",
	 "line 1, column 45: AND, OR or the end of the query expected, not 'prio'", "prio"},
	{"SELECT a.pid FROM sched_waking a JOIN sched_switch b WHERE a.prio < 3",
	 "line 1, column 54: ON and the fields that must match expected, not 'WHERE'", "WHERE"},
	{"SELECT a.pid FROM sched_waking a JOIN sched_switch b ON a.pid < b.next_pid",
	 "line 1, column 63: '=' expected, not '<'", "<"},

	/* events and fields */
	{"SELECT pid FROM sched_wakin",
	 "line 1, column 17: there is no event 'sched_wakin'; did you mean 'sched_waking'?",
	 "sched_wakin"},
	{"SELECT pid FROM nothing_like_it",
	 "line 1, column 17: there is no event 'nothing_like_it'", "nothing_like_it"},
	{"SELECT pid FROM kmem.sched_waking",
	 "line 1, column 17: there is no event 'kmem.sched_waking'; did you mean "
	 "'sched.sched_waking'?",
	 "kmem.sched_waking"},
	{"SELECT small FROM twice",
	 "line 1, column 19: there are 2 events of this name: write SYSTEM.twice, for example "
	 "first.twice",
	 "twice"},
	{"SELECT x FROM a.b.c", "line 1, column 15: an event is written EVENT or SYSTEM.EVENT",
	 "a.b.c"},
	{"SELECT pid, prioo FROM sched_waking",
	 "line 1, column 13: sched_waking has no field 'prioo'; did you mean 'prio'?", "prioo"},
	{"SELECT pid.hex FROM sched_waking",
	 "line 1, column 8: 'pid.hex' is no field; a field is converted by CAST(pid AS hex)",
	 "pid.hex"},
	{"SELECT other.pid, a.pid FROM sched_waking a JOIN sched_switch ON a.pid = "
	 "sched_switch.next_pid",
	 "line 1, column 8: 'other' is no event of this query, which has 'a' and 'sched_switch'",
	 "other.pid"},
	{"SELECT common_pid " WAKEUP,
	 "line 1, column 8: both events have 'common_pid': write start.common_pid or "
	 "end.common_pid",
	 "common_pid"},
	{"SELECT start.prioo " WAKEUP,
	 "line 1, column 8: sched_waking has no field 'prioo'; did you mean 'prio'?",
	 "start.prioo"},
	{"SELECT a.pid FROM sched_waking a JOIN sched_switch a ON a.pid = a.next_pid",
	 "line 1, column 39: both events are called 'a'", "sched_switch"},
	{"SELECT pid FROM sched_waking JOIN sched_waking ON pid = pid",
	 "line 1, column 35: the same event twice: give them names with AS to tell them apart",
	 "sched_waking"},
	{"SELECT sched_waking.pid FROM sched_waking a JOIN sched_waking b ON a.pid = b.pid",
	 "line 1, column 8: 'sched_waking.pid' may be of either event: use their names",
	 "sched_waking.pid"},

	/* columns */
	{"SELECT pid, prio, pid FROM sched_waking", "line 1, column 19: 'pid' is selected twice",
	 "pid"},
	{"SELECT CPU, common_cpu FROM sys_enter",
	 "line 1, column 13: 'common_cpu' is selected twice", "common_cpu"},
	{"SELECT args FROM sys_enter",
	 "line 1, column 8: 'args' is an array, which cannot be a column", "args"},
	{"SELECT pid + prio AS x FROM sched_waking",
	 "line 1, column 8: a histogram shows fields as they are; calculations need JOIN",
	 "pid + prio"},
	{"SELECT CAST(bytes_req AS _COUNTER_) FROM kmalloc",
	 "line 1, column 26: all columns are counters: a histogram needs something to count by",
	 "_COUNTER_"},
	{"SELECT CAST(comm AS hex) FROM sched_waking",
	 "line 1, column 13: 'comm' is no number and cannot be cast", "comm"},
	{"SELECT CAST(pid AS execname) FROM sched_waking",
	 "line 1, column 20: only common_pid can be shown as the name of a task", "execname"},
	{"SELECT TIMESTAMP_DELTA AS d FROM sched_waking",
	 "line 1, column 8: 'TIMESTAMP_DELTA' is the time between two events: JOIN is missing",
	 "TIMESTAMP_DELTA"},
	{"SELECT end.next_prio - start.prio " WAKEUP,
	 "line 1, column 8: what is calculated needs a name: AS name",
	 "end.next_prio - start.prio"},
	{"SELECT start.pid, end.prev_pid AS pid " WAKEUP,
	 "line 1, column 35: there already is a column 'pid': give this one another name with AS",
	 "pid"},
	{"SELECT CAST(start.pid AS hex) AS p " WAKEUP,
	 "line 1, column 26: CAST is for histograms; an event of a JOIN has plain fields", "hex"},
	{"SELECT start.comm - end.next_prio AS x " WAKEUP,
	 "line 1, column 8: 'start.comm' is no number to calculate with", "start.comm"},
	{"SELECT (start.prio + end.next_prio) * 2 AS x " WAKEUP,
	 "line 1, column 9: this is more than the kernel can calculate: it takes sums of up to 4 "
	 "fields and products",
	 "start.prio + end.next_prio) * 2"},
	{"SELECT prio + 1 + 2 + 3 + next_prio AS x " WAKEUP,
	 "line 1, column 27: this is more than the kernel can calculate: it takes sums of up to 4 "
	 "fields and products",
	 "next_prio"},
	{"SELECT 1 + 2 AS x " WAKEUP, "line 1, column 8: a column needs a field", "1 + 2"},
	{"SELECT end.TIMESTAMP - start.TIMESTAMP_USECS AS x " WAKEUP,
	 "line 1, column 8: TIMESTAMP_USECS can only be calculated with that of the other event",
	 "end.TIMESTAMP - start.TIMESTAMP_USECS"},

	/* matches and conditions */
	{"SELECT a.pid FROM sched_waking a JOIN sched_switch b ON a.pid = a.prio",
	 "line 1, column 65: 'a.pid' and 'a.prio' are of the same event: one of each must match",
	 "a.prio"},
	{"SELECT a.pid FROM sched_waking a JOIN sched_switch b ON a.pid = b.next_comm",
	 "line 1, column 65: 'a.pid' is a number and 'b.next_comm' a text: they never match",
	 "b.next_comm"},
	{"SELECT a.id FROM sys_enter a JOIN sys_exit b ON a.args = b.id",
	 "line 1, column 49: 'a.args' cannot be matched", "a.args"},
	{"SELECT pid FROM sched_waking WHERE pid == 'abc'",
	 "line 1, column 43: 'pid' is a number, and this a text", "'abc'"},
	{"SELECT pid FROM sched_waking WHERE comm == 5",
	 "line 1, column 44: 'comm' is a text, which is compared with a text in quotes", "5"},
	{"SELECT pid FROM sched_waking WHERE comm < 'abc'",
	 "line 1, column 36: texts are compared with ==, != and ~", "comm < 'abc'"},
	{"SELECT id FROM sys_enter WHERE id ~ 5",
	 "line 1, column 37: ~ compares with a text: \"abc*\"", "5"},
	{"SELECT pid FROM sched_waking WHERE TIMESTAMP > 5",
	 "line 1, column 36: 'TIMESTAMP' cannot be part of a condition", "TIMESTAMP"},
	{"SELECT TIMESTAMP_DELTA AS lat " WAKEUP " WHERE lat > 5",
	 "line 1, column 117: 'lat' is calculated after the conditions have been looked at", "lat"},
	{"SELECT start.pid " WAKEUP " WHERE start.prio < 100 || end.prev_prio < 100",
	 "line 1, column 124: 'start.prio' and 'end.prev_prio' are of different events: only AND "
	 "can "
	 "join them",
	 "end.prev_prio"},

	/* options */
	{"SELECT pid FROM sched_waking",
	 "a histogram has no actions: they need a query with JOIN",
	 "",
	 {.when = SQL_NEW_MAXIMUM, .column = "pid"}},
	{"SELECT start.pid, TIMESTAMP_DELTA AS lat " WAKEUP,
	 "'lta' is no column of the query; did you mean 'lat'?",
	 "",
	 {.when = SQL_CHANGE, .column = "lta"}},
	{"SELECT start.comm " WAKEUP,
	 "'comm' is no number: it has no maximum and no change",
	 "",
	 {.when = SQL_NEW_MAXIMUM, .column = "comm"}},
	{"SELECT start.pid " WAKEUP,
	 "a snapshot or saved fields need to know when: at a new maximum or a change of a column",
	 "",
	 {.snapshot = true}},
	{"SELECT start.pid " WAKEUP,
	 "sched_switch has no field 'nextcomm' to save; did you mean "
	 "'next_comm'?",
	 "",
	 {.when = SQL_CHANGE,
	  .column = "pid",
	  .save = (const char *const[]){"nextcomm"},
	  .nr_save = 1}},
	{"SELECT start.pid " WAKEUP,
	 "'a b' is no name for an event: letters, digits and '_'",
	 "",
	 {.name = "a b"}},
};

static void put_steps(struct buf *out, const struct plan *p)
{
	vec_each (s, p)
		buf_printf(out, "%s%s%s%s %s\n", *s->instance ? "instances/" : "", s->instance,
			   *s->instance ? "/" : "", s->file, s->text);
}

static int compile(const char *query, const struct sql_options *opt,
		   const struct sql_schema *schema, struct plan *plan, struct sql_mistake *mistake,
		   struct spur_error *err)
{
	struct sql_options named = *opt;

	if (!named.name)
		named.name = "x";
	plan_init(plan);
	return sql_plan(query, &named, schema, plan, mistake, err);
}

static void test_good(void **state)
{
	const struct sql_schema schema = sql_events_schema();

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct sql_mistake mistake;
		struct spur_error err = {0};
		struct plan plan;
		struct buf out;
		int rc = compile(good[i].query, &good[i].opt, &schema, &plan, &mistake, &err);

		buf_init(&out, 1 << 20);
		put_steps(&out, &plan);
		if (rc != 0 || strcmp(buf_str(&out), good[i].lines) != 0) {
			print_error("%s\n%s%s\ninstead of\n%s\n", good[i].query, err.text,
				    buf_str(&out), good[i].lines);
			fail();
		}
		buf_free(&out);
		plan_free(&plan);
	}
	events_free(schema.arg);
}

/* What sql_point() marks: the characters above the caret and the tildes. */
static void pointed(char *to, size_t cap, const char *query, const struct sql_mistake *m)
{
	struct buf out;
	const char *text, *caret;

	*to = '\0';
	buf_init(&out, 1 << 20);
	sql_point(&out, query, m);
	text = buf_str(&out);
	caret = strchr(text, '^');
	if (caret) {
		size_t n = strspn(caret, "^~");
		const char *line = caret;

		while (line > text && line[-1] != '\n')
			line--;
		snprintf(to, cap, "%.*s", (int)n, text + (caret - line));
		to[strcspn(to, "\n")] = '\0';
	} else {
		assert_int_equal(out.len, 0);
	}
	buf_free(&out);
}

static void test_wrong(void **state)
{
	const struct sql_schema schema = sql_events_schema();

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct sql_mistake mistake;
		struct spur_error err = {0};
		struct plan plan;
		char part[200];
		int rc = compile(wrong[i].query, &wrong[i].opt, &schema, &plan, &mistake, &err);

		pointed(part, sizeof(part), wrong[i].query, &mistake);
		if (rc != -EINVAL || strcmp(err.text, wrong[i].message) != 0 ||
		    strcmp(part, wrong[i].pointed) != 0) {
			print_error("%s\n%d %s\npoints at '%s', instead of\n%s\npointing at '%s'\n",
				    wrong[i].query, rc, err.text, part, wrong[i].message,
				    wrong[i].pointed);
			fail();
		}
		assert_int_equal(plan.n, 0);
		plan_free(&plan);
	}
	events_free(schema.arg);
}

/* Without formats everything works that does not need a field's type. */
static void test_no_schema(void **state)
{
	static const struct {
		const char *query, *lines;
	} cases[] = {
		{"SELECT pid FROM sched.sched_waking WHERE prio < 3 && comm == 'x'",
		 WAKING "hist:keys=pid if prio < 3 && comm == \"x\"\n"},
		{"SELECT TIMESTAMP_DELTA AS d FROM sched.sched_waking a JOIN sched.sched_switch b "
		 "ON a.pid = b.next_pid",
		 "dynamic_events s:x u64 d;\n" WAKING "hist:keys=pid:x__1=common_timestamp\n" SWITCH
		 "hist:keys=next_pid:x__d=common_timestamp-$x__1:onmatch(sched.sched_waking)."
		 "x($x__d)\n"},
		{"SELECT pid FROM sched_waking", NULL},
		{"SELECT a.pid FROM sched.sched_waking a JOIN sched.sched_switch b ON a.pid = "
		 "b.next_pid",
		 NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct sql_options opt = {0};
		struct sql_mistake mistake;
		struct spur_error err = {0};
		struct plan plan;
		struct buf out;
		int rc = compile(cases[i].query, &opt, NULL, &plan, &mistake, &err);

		buf_init(&out, 1 << 20);
		put_steps(&out, &plan);
		assert_int_equal(rc, cases[i].lines ? 0 : -EINVAL);
		assert_string_equal(buf_str(&out), cases[i].lines ? cases[i].lines : "");
		buf_free(&out);
		plan_free(&plan);
	}
}

/* What is long or deep is refused, and not in ages. */
static void test_large(void **state)
{
	static const struct {
		const char *head, *part, *tail;
		int times;
	} cases[] = {
		{"SELECT pid FROM sched_waking WHERE ", "(", "pid = 1", 10000},
		{"SELECT pid FROM sched_waking WHERE ", "!", "pid = 1", 10000},
		{"SELECT ", "(", "pid FROM sched_waking", 10000},
		{"SELECT pid", " + pid", " AS x " WAKEUP, 5000},
		{"SELECT pid", ", pid", " FROM sched_waking", 5000},
		{"SELECT pid FROM sched_waking WHERE pid = 1", " || pid = 1", "", 5000},
		{"SELECT a.pid FROM sched_waking a JOIN sched_switch b ON a.pid = b.next_pid",
		 ", a.pid = b.next_pid", "", 2500},
		{"SELECT pid FROM sched_waking WHERE ", "                ", "pid = 1", 5000},
	};
	const struct sql_schema schema = sql_events_schema();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct sql_options opt = {0};
		struct sql_mistake mistake;
		struct spur_error err = {0};
		struct plan plan;
		struct buf query;

		buf_init(&query, 1 << 20);
		buf_puts(&query, cases[i].head);
		for (int k = 0; k < cases[i].times; k++)
			buf_puts(&query, cases[i].part);
		buf_puts(&query, cases[i].tail);
		assert_int_equal(compile(buf_str(&query), &opt, &schema, &plan, &mistake, &err),
				 -EINVAL);
		buf_free(&query);
		plan_free(&plan);
	}
	events_free(schema.arg);
}

/* ---- formats in a directory ---- */

static void write_file(const char *dir, const char *path, const char *text)
{
	char full[300];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", dir, path);
	for (char *p = full + strlen(dir) + 1; *p; p++) {
		if (*p == '/') {
			*p = '\0';
			mkdir(full, 0700);
			*p = '/';
		}
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

#define FORMAT(name)                                                                               \
	"name: " name "\nID: 1\nformat:\n"                                                         \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                               \
	"\tfield:int value;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n"

static void test_directory(void **state)
{
	static const struct {
		const char *query, *result;
	} cases[] = {
		{"SELECT value FROM only", "events/one/only/trigger hist:keys=value\n"},
		{"SELECT value FROM two.both", "events/two/both/trigger hist:keys=value\n"},
		{"SELECT value FROM both", "line 1, column 19: there are 2 events of this name: "
					   "write SYSTEM.both, for example "
					   "one.both"},
		{"SELECT value FROM onyl",
		 "line 1, column 19: there is no event 'onyl'; did you mean 'only'?"},
		{"SELECT valeu FROM only",
		 "line 1, column 8: only has no field 'valeu'; did you mean 'value'?"},
		{"SELECT value FROM broken", "events/one/broken/format"},
	};
	char dir[] = "/tmp/spur-sql-XXXXXX", command[64];
	struct spur_error err = {0};
	struct sql_formats *formats;
	struct sql_schema schema;
	struct tracefs fs = {0};

	assert_non_null(mkdtemp(dir));
	snprintf(fs.path, sizeof(fs.path), "%s", dir);
	assert_int_equal(sql_formats_open(&fs, &formats, &err), -ENOENT);
	write_file(dir, "events/enable", "0\n");
	write_file(dir, "events/one/only/format", FORMAT("only"));
	write_file(dir, "events/one/both/format", FORMAT("both"));
	write_file(dir, "events/two/both/format", FORMAT("both"));
	write_file(dir, "events/one/broken/format", "name: broken\nID: 3\nformat:\n\tfield\n");
	err = (struct spur_error){0};
	assert_int_equal(sql_formats_open(&fs, &formats, &err), 0);
	schema = sql_formats_schema(formats);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct sql_options opt = {0};
		struct sql_mistake mistake;
		struct plan plan;
		struct buf out;
		int rc;

		err = (struct spur_error){0};
		rc = compile(cases[i].query, &opt, &schema, &plan, &mistake, &err);
		buf_init(&out, 1 << 16);
		put_steps(&out, &plan);
		if (rc < 0)
			buf_puts(&out, err.text);
		if (!strstr(buf_str(&out), cases[i].result)) {
			print_error("%s: %s\ninstead of %s\n", cases[i].query, buf_str(&out),
				    cases[i].result);
			fail();
		}
		buf_free(&out);
		plan_free(&plan);
	}
	sql_formats_close(formats);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	  cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_no_schema), cmocka_unit_test(test_large),
		cmocka_unit_test(test_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
