// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins about objects of the kernel. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "lang/lower/lower.h"
#include "symbols/abi.h"

/* Helpers with typed pointers only work in programs whose arguments the verifier knows. */
static bool check_direct(struct checker *c, const struct node *n, bool also_raw)
{
	const enum probe_type t = program_probe(c->at);

	if (also_raw && t == PT_RAWTRACEPOINT)
		return true;
	if (t == PT_FENTRY || t == PT_FEXIT || t == PT_ITER)
		return true;
	return check_fail(c, n, "%s() can only be used with 'fentry', 'fexit'%s and 'iter' probes",
			  n->name, also_raw ? ", 'rawtracepoint'" : "");
}

/* ---- path(struct path *[, size]) ---- */

static bool check_path(struct checker *c, struct node *n)
{
	struct node *len = node_nth(n, 1);
	int64_t size = c->unit->config.max_strlen;

	if (!check_direct(c, n, false) || (len && !check_const_int(c, n, len, &size)))
		return false;
	if (size < 1 || size > c->unit->config.max_strlen)
		return check_fail(c, len, "path() takes a size of 1 to %u",
				  c->unit->config.max_strlen);
	n->vtype = vtype_string((uint32_t)size);
	return true;
}

/* The address of a struct, or the value of a pointer to it. */
static ir_reg object(struct lower *l, struct node *n)
{
	struct value a = {0};

	if (vtype_is_number(&n->vtype))
		return lower_number(l, n);
	member_place(l, n, &a);
	return mem_address(l, a.mem);
}

static void lower_path(struct lower *l, struct node *n, struct value *v)
{
	const uint32_t size = n->vtype.size;
	const struct mem m = mem_alloc(l, size);
	const ir_reg path = object(l, n->list);

	mem_zero(l, m, size);
	lower_result(l, BPF_FUNC_d_path,
		     IR_CALL(l->f, BPF_FUNC_d_path, path, mem_address(l, m), ir_const(l->f, size)));
	set_memory(v, m);
}

/* ---- socket_cookie(struct sock *) ---- */

static bool check_cookie(struct checker *c, struct node *n)
{
	n->vtype = vtype_int(8, false);
	return check_number(c, n, n->list) && check_direct(c, n, true);
}

static void lower_cookie(struct lower *l, struct node *n, struct value *v)
{
	set_number(v, IR_CALL(l->f, BPF_FUNC_get_socket_cookie, lower_number(l, n->list)));
}

/* ---- skboutput("path", struct sk_buff *, length, offset) ---- */

/* The most that fits a record of perf after its headers. */
#define MOST_OF_PACKET 65000

#define PACKET_RING (512u << 10) /* bytes for each CPU */

static bool is_packet(const struct vtype *t)
{
	struct buf name;
	bool same;

	if (t->kind != V_POINTER)
		return false;
	buf_init(&name, 256);
	type_name(&t->c, &name);
	same = strcmp(buf_str(&name), "struct sk_buff") == 0;
	buf_free(&name);
	return same;
}

static bool check_skboutput(struct checker *c, struct node *n)
{
	struct node *skb = node_nth(n, 1), *length = skb->next, *offset = length->next;
	const enum probe_type t = program_probe(c->at);
	int64_t skip = 0;

	if (!check_const_text(c, n, n->list))
		return false;
	if (t != PT_FENTRY && t != PT_FEXIT && t != PT_RAWTRACEPOINT)
		return check_fail(c, n,
				  "skboutput() can only be used with 'fentry', 'fexit' and "
				  "'rawtracepoint' probes: of others the kernel does not know that "
				  "it is a packet");
	n->vtype = vtype_int(8, true);
	if (!check_number(c, n, length) || !check_const_int(c, n, offset, &skip))
		return false;
	if (skb->vtype.kind == V_NONE)
		return true;
	if (!is_packet(&skb->vtype))
		return check_fail(c, skb, "skboutput() needs a pointer to a struct sk_buff here");
	if (skip < 0 || skip > MOST_OF_PACKET)
		return check_fail(c, offset, "an offset in a packet is 0 to %d", MOST_OF_PACKET);
	if (!check_action(c, n, ACT_PACKET, NULL))
		return false;
	n->action->top = skip;
	n->action->format = arena_strdup(&c->unit->arena, n->list->text);
	return n->action->format ? check_helper(c, n, BPF_FUNC_skb_output) : check_no_memory(c);
}

static uint32_t packet_ring(struct lower *l)
{
	const uint64_t asked = (uint64_t)l->unit->config.perf_rb_pages * 4096;
	uint64_t size = (asked ? asked : PACKET_RING) * l->c->opt->nr_cpus;

	if (size > 1u << 30)
		size = 1u << 30;
	return map_internal(l, &l->unit->packets, "packets", MAP_PERF_RING, 0, (uint32_t)size);
}

static void lower_skboutput(struct lower *l, struct node *n, struct value *v)
{
	const uint32_t size = sizeof(struct action_record) + sizeof(struct packet_record);
	const struct mem record = mem_alloc(l, size);
	const struct mem packet = mem_at(record, sizeof(struct action_record));
	const ir_reg skb = lower_number(l, node_nth(n, 1)), whole = lower_number(l, node_nth(n, 2));
	const ir_reg length = lower_limited(l, whole, MOST_OF_PACKET);
	ir_reg flags;

	n->action->div =
		lower_clock(l) == BPF_FUNC_ktime_get_boot_ns ? CLOCK_OF_BOOT : CLOCK_OF_MONOTONIC;
	lower_head(l, record, n->action);
	mem_store(l, packet, 8, ir_call(l->f, lower_clock(l), 0, NULL));
	mem_store(l, mem_at(packet, offsetof(struct packet_record, length)), 4, length);
	mem_store(l, mem_at(packet, offsetof(struct packet_record, whole)), 4, whole);
	/*
	 * The upper half is the number of bytes of the packet that the helper appends to the
	 * record.
	 */
	flags = ir_binary(l->f, IR_OR, ir_binary_const(l->f, IR_SHL, length, 32),
			  ir_const(l->f, (int64_t)BPF_F_CURRENT_CPU));
	set_number(v, IR_CALL(l->f, BPF_FUNC_skb_output, skb, ir_map(l->f, packet_ring(l)), flags,
			      mem_address(l, record), ir_const(l->f, size)));
}

/* ---- percpu_kaddr("symbol"[, cpu]) ---- */

/*
 * The address of the symbol is an offset in the area of each CPU; the kernel has an array with the
 * addresses of the areas.
 */
static bool check_percpu(struct checker *c, struct node *n)
{
	struct node *cpu = node_nth(n, 1);

	if (!check_const_text(c, n, n->list) || (cpu && !check_number(c, n, cpu)))
		return false;
	n->num = (int64_t)c->env->ops->symbol(c->env, n->list->text);
	n->list->num = (int64_t)c->env->ops->symbol(c->env, "__per_cpu_offset");
	if (!n->num || !n->list->num)
		return check_fail(c, n->list,
				  "the kernel has no symbol '%s', or does not show its address",
				  n->num ? "__per_cpu_offset" : n->list->text);
	n->vtype = (struct vtype){.kind = V_POINTER, .size = 8, .space = SPACE_KERNEL};
	n->vtype.c = (struct type){.kind = TYPE_INTEGER, .size = 8};
	return true;
}

static void lower_percpu(struct lower *l, struct node *n, struct value *v)
{
	struct node *cpu = node_nth(n, 1);
	const ir_label none = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);
	const struct mem word = mem_alloc(l, 8);
	const ir_reg nr =
		cpu ? lower_number(l, cpu) : ir_call(l->f, BPF_FUNC_get_smp_processor_id, 0, NULL);

	ir_set_const(l->f, r, 0);
	ir_branch_const(l->f, IR_UGE, nr, l->c->opt->nr_cpus, none);
	mem_read(l, word, 8, SPACE_KERNEL,
		 ir_binary(l->f, IR_ADD, ir_const(l->f, n->list->num),
			   ir_binary_const(l->f, IR_SHL, nr, 3)));
	ir_set(l->f, r,
	       ir_binary(l->f, IR_ADD, mem_load(l, word, 8, false), ir_const(l->f, n->num)));
	ir_place(l->f, none);
	set_number(v, r);
}

/* ---- container_of(pointer, struct x, field) ---- */

static bool check_container(struct checker *c, struct node *n)
{
	struct node *type = n->list->next, *field = type->next;
	struct member m;
	struct vtype t;

	if (!check_expr(c, n->list) || !check_number(c, n, n->list))
		return false;
	if (type->kind != N_TYPEOF)
		return check_fail(c, type, "container_of() needs a type here: struct x");
	if (field->kind != N_NAME)
		return check_fail(c, field, "container_of() needs the name of a field here");
	if (!check_type_name(c, type->type, &t))
		return false;
	if (t.kind != V_STRUCT || !type_member(&t.c, field->name, strlen(field->name), &m))
		return check_fail(c, field, "there is no field '%s'", field->name);
	n->num = (int64_t)m.offset;
	n->vtype = (struct vtype){.kind = V_POINTER, .size = 8, .c = t.c};
	n->vtype.space = check_space_of(c, &n->list->vtype);
	return true;
}

static void lower_container(struct lower *l, struct node *n, struct value *v)
{
	set_number(v, ir_binary_const(l->f, IR_SUB, lower_number(l, n->list), n->num));
}

/* ---- is_err(pointer) ---- */

static bool check_is_err(struct checker *c, struct node *n)
{
	n->vtype = vtype_fixed(V_BOOL);
	return check_number(c, n, n->list);
}

/* Errors are the last 4095 addresses. */
static void lower_is_err(struct lower *l, struct node *n, struct value *v)
{
	set_number(v, lower_not(l, IR_ULT, lower_number(l, n->list), -4095));
}

/* ---- kfunc_exist(), kfunc_allowed() ---- */

static bool check_kfunc(struct checker *c, struct node *n)
{
	struct proto p = {0};

	if (!check_const_text(c, n, n->list))
		return false;
	n->vtype = vtype_fixed(V_BOOL);
	n->is_const = true;
	/* Scripts cannot call kfuncs, whatever the kernel allows. */
	n->num = !n->builtin->what && c->env->ops->function(c->env, NULL, n->list->text, &p);
	return true;
}

/* ---- usermode ---- */

static bool check_usermode(struct checker *c, struct node *n)
{
	const enum probe_type t = program_probe(c->at);

	n->vtype = vtype_int(1, false);
	if (regs_named(regs_of(NULL), "cs") < 0)
		return check_fail(c, n, "usermode is only available on x86_64");
	/* Programs that spur runs itself are in user space. */
	n->is_const = t == PT_BEGIN || t == PT_END;
	n->num = 1;
	if (n->is_const)
		return true;
	if (t != PT_PROFILE && t != PT_SOFTWARE && t != PT_HARDWARE && t != PT_KPROBE &&
	    t != PT_KRETPROBE && t != PT_UPROBE && t != PT_URETPROBE && t != PT_USDT)
		return check_fail(c, n, "usermode can not be used with '%s' probes",
				  probe_type_name(t));
	return true;
}

/* The two lowest bits of CS are the privilege level. */
static void lower_usermode(struct lower *l, struct node *n, struct value *v)
{
	const ir_reg cs = ir_load(l->f, lower_ctx(l), regs_named(regs_of(NULL), "cs"), 8, false);

	set_number(v, lower_not(l, IR_EQ, ir_binary_const(l->f, IR_AND, cs, 3), 0));
}

#define LIVE (BUILTIN_LIVE | BUILTIN_KERNEL)

const struct builtin builtins_kernel[] = {
	{"path", 1, 2, LIVE | BUILTIN_OF_PROBE, check_path, lower_path, 0},
	{"socket_cookie", 1, 1, LIVE | BUILTIN_OF_PROBE, check_cookie, lower_cookie, 0},
	{"skboutput", 4, 4, LIVE | BUILTIN_OF_PROBE | BUILTIN_EFFECT, check_skboutput,
	 lower_skboutput, 0},
	{"percpu_kaddr", 1, 2, LIVE | BUILTIN_OF_PROBE, check_percpu, lower_percpu, 0},
	{"container_of", 3, 3, BUILTIN_WORDS, check_container, lower_container, 0},
	{"is_err", 1, 1, 0, check_is_err, lower_is_err, 0},
	{"kfunc_exist", 1, 1, BUILTIN_LIVE, check_kfunc, NULL, 0},
	{"kfunc_allowed", 1, 1, 0, check_kfunc, NULL, 1},
	{"usermode", 0, 0, LIVE | BUILTIN_OF_PROBE | BUILTIN_BOTH, check_usermode, lower_usermode,
	 0},
	BUILTIN_END,
};
