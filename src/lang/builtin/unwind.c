// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dw_ustack(): stacks of processes without frame pointers. Programs follow the tables of
 * lang/unwind.h; each frame is a call of a function of its own. Where the tables have no entry, the
 * stack ends.
 *
 * The state of a frame is in the scratch area (struct state), followed by the frames found so far.
 * Stacks are stored by a number that is computed from their frames: equal stacks have equal
 * numbers.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "lang/lower/lower.h"
#include "lang/unwind.h"
#include "symbols/abi.h"
#include "symbols/cfi.h"

struct state {
	uint64_t ip, sp, bp, bx;
	uint64_t exact; /* ip is not a return address */
	uint64_t now;
	uint64_t n, hash;
	uint64_t cfa;
	struct unwind_page_key key;
	struct unwind_page page;
	struct unwind_file_key file;
	uint64_t start, word;
	struct unwind_file none;
	struct action_record head; /* of the record that is sent, followed by: */
	struct unwind_note note;
};

_Static_assert(offsetof(struct state, note) == offsetof(struct state, head) + 8, "one record");

struct unwinder {
	struct lower *l;
	/* The offset is the same in all functions, the base is their scratch area. */
	struct mem state;
	uint32_t depth;
	uint32_t rows, rules, files, pages; /* maps */
	const struct action *note;
};

/* ---- the state ---- */

static inline struct mem at_offset(const struct unwinder *u, size_t offset)
{
	return (struct mem){lower_scratch(u->l), u->state.offset + (int64_t)offset};
}

static inline ir_reg get_word(const struct unwinder *u, size_t offset)
{
	return mem_load(u->l, at_offset(u, offset), 8, false);
}

static inline void put_word(const struct unwinder *u, size_t offset, ir_reg v)
{
	mem_store(u->l, at_offset(u, offset), 8, v);
}

static inline ir_reg address_of(const struct unwinder *u, size_t offset)
{
	return mem_address(u->l, at_offset(u, offset));
}

#define GET(field)	    get_word(u, offsetof(struct state, field))
#define PUT(field, v)	    put_word(u, offsetof(struct state, field), v)
#define PUT_CONST(field, v) mem_store_const(u->l, MEM(field), 8, v)
#define MEM(field)	    at_offset(u, offsetof(struct state, field))

/* ---- fields of the kernel's structs ---- */

enum unwind_field {
	TASK_MM,
	MM_STACK,
	VMA_START,
	VMA_PGOFF,
	VMA_FILE,
	FILE_INODE,
	INODE_INO,
	INODE_SIZE,
	UNWIND_FIELDS
};

/* Where a field is; false, with its name in *name, when the kernel does not describe it. */
static bool unwind_field(struct env *e, enum unwind_field which, struct member *m,
			 const char **name)
{
	static const struct {
		const char *type, *name;
	} fields[] = {
		[TASK_MM] = {"struct task_struct", "mm"},
		[MM_STACK] = {"struct mm_struct", "start_stack"},
		[VMA_START] = {"struct vm_area_struct", "vm_start"},
		[VMA_PGOFF] = {"struct vm_area_struct", "vm_pgoff"},
		[VMA_FILE] = {"struct vm_area_struct", "vm_file"},
		[FILE_INODE] = {"struct file", "f_inode"},
		[INODE_INO] = {"struct inode", "i_ino"},
		[INODE_SIZE] = {"struct inode", "i_size"},
	};
	struct type t;

	*name = fields[which].name;
	return env_type(e, fields[which].type, &t) && type_member(&t, *name, strlen(*name), m);
}

/* Reads a field of a kernel object into a word of the state; 0 if it cannot be read. */
static ir_reg unwind_read(const struct unwinder *u, ir_reg object, enum unwind_field which,
			  size_t to)
{
	struct member m = {0};
	const char *name;

	unwind_field(u->l->c->env, which, &m, &name);
	mem_read(u->l, at_offset(u, to), 8, SPACE_KERNEL,
		 ir_binary_const(u->l->f, IR_ADD, object, (int64_t)m.offset));
	return get_word(u, to);
}

/* ---- the table for a page of a process ---- */

/*
 * Most pages have been met before. For a new page the kernel is asked which file is mapped there. A
 * file that is not known either is reported to user space, which adds its tables for the next time.
 */

#define BELIEVED 1000000000 /* ns after which a page is searched again, if possible */

/* The function that is called with the mapping of an address: stores its file. */
static uint32_t lower_mapping(const struct unwinder *u)
{
	struct lower *l = u->l;
	struct lower_func before;
	const uint32_t body = lower_body_begin(l, 3, 2, &before);
	const ir_reg vma = ir_arg(l->f, 1);
	ir_reg object, pages;

	object = unwind_read(u, vma, VMA_FILE, offsetof(struct state, word));
	ir_branch_const(l->f, IR_EQ, object, 0, l->in.end);
	object = unwind_read(u, object, FILE_INODE, offsetof(struct state, word));
	unwind_read(u, object, INODE_SIZE, offsetof(struct state, file.size));
	unwind_read(u, vma, VMA_START, offsetof(struct state, start));
	pages = unwind_read(u, vma, VMA_PGOFF, offsetof(struct state, word));
	PUT(start, ir_binary(l->f, IR_SUB, GET(start),
			     ir_binary_const(l->f, IR_SHL, pages, UNWIND_PAGE_BITS)));
	unwind_read(u, object, INODE_INO, offsetof(struct state, file.inode));
	lower_body_end(l, &before);
	return body;
}

/* Reports a missing file to user space; inode 0: all mappings of the process. */
static void send_note(const struct unwinder *u, ir_reg addr)
{
	struct lower *l = u->l;
	const ir_reg pid = lower_proc_pid(l);

	lower_head(l, MEM(head), u->note);
	PUT(note.pid, pid);
	PUT(note.addr, addr);
	PUT(note.file.inode, GET(file.inode));
	PUT(note.file.size, GET(file.size));
	lower_send(l, u->note, MEM(head), sizeof(struct action_record) + sizeof(struct unwind_note),
		   0);
}

/* A new file: its empty entry makes sure that it is reported only once. */
static void lower_new_file(const struct unwinder *u, ir_reg addr, ir_label end)
{
	struct lower *l = u->l;

	mem_zero(l, MEM(none), sizeof(struct unwind_file));
	map_update(l, u->files, MEM(file), MEM(none), BPF_NOEXIST);
	send_note(u, addr);
	ir_jump(l->f, end);
}

/* The kernel gave no answer: what is known of the page, if anything, is still used. */
static void lower_no_answer(const struct unwinder *u, ir_reg addr, ir_label known, ir_label end)
{
	struct lower *l = u->l;

	ir_branch_const(l->f, IR_NE, mem_load(l, MEM(page.nr), 4, false), 0, known);
	send_note(u, addr);
	ir_jump(l->f, end);
}

/*
 * A page that is not known: the kernel finds its file, unless it is busy. With interrupts off it
 * answers only once, so user space has to help.
 */
static void lower_new_page(const struct unwinder *u, ir_reg addr, ir_label done, ir_label end)
{
	struct lower *l = u->l;
	const ir_label answered = ir_new_label(l->f), known = ir_new_label(l->f);
	const uint32_t body = lower_mapping(u);
	ir_reg rc, file;

	PUT_CONST(file.inode, 0);
	PUT_CONST(file.size, 0);
	rc = IR_CALL(l->f, BPF_FUNC_find_vma, ir_call(l->f, BPF_FUNC_get_current_task_btf, 0, NULL),
		     addr, ir_func_address(l->f, body), lower_frame_address(l), ir_const(l->f, 0));
	ir_branch_const(l->f, IR_NE, rc, -EBUSY, answered);
	lower_no_answer(u, addr, done, end);
	ir_place(l->f, answered);
	ir_branch_const(l->f, IR_EQ, GET(file.inode), 0, end);
	file = ir_new(l->f);
	ir_set(l->f, file, map_lookup(l, u->files, MEM(file)));
	ir_branch_const(l->f, IR_NE, file, 0, known);
	lower_new_file(u, addr, end);
	ir_place(l->f, known);
	ir_branch_const(l->f, IR_EQ,
			ir_load(l->f, file, offsetof(struct unwind_file, nr), 4, false), 0, end);
	mem_copy(l, MEM(page), (struct mem){file, 0}, 8);
	PUT(page.bias,
	    ir_binary(l->f, IR_ADD, GET(start),
		      ir_load(l->f, file, offsetof(struct unwind_file, bias), 8, false)));
	PUT(page.ns, GET(now));
	map_update(l, u->pages, MEM(key), MEM(page), BPF_ANY);
}

static void lower_unwind_page(const struct unwinder *u, ir_reg addr, ir_label end)
{
	struct lower *l = u->l;
	const ir_label look = ir_new_label(l->f), done = ir_new_label(l->f);
	const ir_reg page = ir_new(l->f);

	PUT(key.page, ir_binary_const(l->f, IR_SHR, addr, UNWIND_PAGE_BITS));
	mem_zero(l, MEM(page), 8);
	ir_set(l->f, page, map_lookup(l, u->pages, MEM(key)));
	ir_branch_const(l->f, IR_EQ, page, 0, look);
	mem_copy(l, MEM(page), (struct mem){page, 0}, sizeof(struct unwind_page));
	ir_branch_const(l->f, IR_SLT, ir_binary(l->f, IR_SUB, GET(now), GET(page.ns)), BELIEVED,
			done);
	ir_place(l->f, look);
	lower_new_page(u, addr, done, end);
	ir_place(l->f, done);
}

#define SEARCH 19 /* steps: UNWIND_ROWS is 2 to this */
#define FACTOR ((int64_t)0x9e3779b97f4a7c15ull)

_Static_assert(1 << SEARCH == UNWIND_ROWS, "a search comes to its end");

/* ---- the rule of an address ---- */

static ir_reg row_address(const struct unwinder *u, ir_reg number)
{
	struct lower *l = u->l;
	const ir_reg within = ir_binary_const(l->f, IR_AND, number, UNWIND_ROWS - 1);

	return ir_binary(l->f, IR_ADD, ir_map_value(l->f, u->rows, 0),
			 ir_binary_const(l->f, IR_SHL, within, 3));
}

/* The address of the rule of the last row that is not after `addr`. */
static ir_reg lower_rule(const struct unwinder *u, ir_reg addr, ir_label end)
{
	struct lower *l = u->l;
	const ir_reg at = ir_binary(l->f, IR_SUB, addr, GET(page.bias));
	const ir_reg low = ir_new(l->f), left = ir_new(l->f);
	ir_reg rule;

	ir_branch_const(l->f, IR_UGT, at, INT32_MAX, end);
	ir_set(l->f, low, mem_load(l, MEM(page.first), 4, false));
	ir_set(l->f, left, mem_load(l, MEM(page.nr), 4, false));
	for (int i = 0; i < SEARCH; i++) {
		const ir_label lower = ir_new_label(l->f);
		const ir_reg half = ir_binary_const(l->f, IR_SHR, left, 1);
		const ir_reg middle = ir_binary(l->f, IR_ADD, low, half);

		ir_set(l->f, left, ir_binary(l->f, IR_SUB, left, half));
		ir_branch(l->f, IR_UGT, ir_load(l->f, row_address(u, middle), 0, 4, false), at,
			  lower);
		ir_set(l->f, low, middle);
		ir_place(l->f, lower);
	}
	rule = ir_load(l->f, row_address(u, low), offsetof(struct unwind_row, rule), 4, false);
	rule = ir_binary_const(l->f, IR_AND, rule, UNWIND_RULES - 1);
	return ir_binary(l->f, IR_ADD, ir_map_value(l->f, u->rules, 0),
			 ir_binary_const(l->f, IR_SHL, rule, 4));
}

/* ---- from one frame to the next, by the rule of an address ---- */

/* Reads a word of the process's memory; jumps to `end` if it cannot be read. */
static void read_stack(const struct unwinder *u, ir_reg addr, size_t to, ir_label end)
{
	const ir_reg rc = IR_CALL(u->l->f, mem_reader(u->l, SPACE_USER, false), address_of(u, to),
				  ir_const(u->l->f, 8), addr);

	ir_branch_const(u->l->f, IR_NE, rc, 0, end);
}

/* Adds a frame to the list; jumps to `end` if the list is full. */
static void add_frame(const struct unwinder *u, ir_label end)
{
	struct lower *l = u->l;
	const ir_reg n = GET(n), ip = GET(ip);
	ir_reg hash, to;

	ir_branch_const(l->f, IR_UGE, n, u->depth, end);
	to = ir_binary(l->f, IR_ADD, address_of(u, sizeof(struct state)),
		       ir_binary_const(l->f, IR_SHL, n, 3));
	ir_store(l->f, to, 0, 8, ip);
	PUT(n, ir_binary_const(l->f, IR_ADD, n, 1));
	hash = ir_binary(l->f, IR_XOR, GET(hash), ip);
	hash = ir_binary(l->f, IR_MUL, hash, ir_const(l->f, FACTOR));
	PUT(hash, ir_binary(l->f, IR_XOR, hash, ir_binary_const(l->f, IR_SHR, hash, 32)));
}

static ir_reg rule_field(const struct unwinder *u, ir_reg rule, size_t offset, uint32_t size)
{
	return ir_load(u->l->f, rule, (int64_t)offset, size, size > 1);
}

#define RULE(field)                                                                                \
	rule_field(u, rule, offsetof(struct cfi_rule, field), sizeof(((struct cfi_rule *)0)->field))

/* Restores the registers from before a signal handler: sp points at them. */
static void lower_signal(const struct unwinder *u, ir_label end)
{
	/* Offsets from sp of the registers that the kernel saves before a signal handler runs. */
	static const struct {
		int64_t at;
		size_t to;
	} saved[] = {
		{120, offsetof(struct state, bp)},
		{128, offsetof(struct state, bx)},
		{168, offsetof(struct state, ip)},
		{160, offsetof(struct state, sp)},
	};
	struct lower *l = u->l;
	const ir_reg sp = ir_new(l->f);

	ir_set(l->f, sp, GET(sp));
	for (size_t i = 0; i < ARRAY_SIZE(saved); i++)
		read_stack(u, ir_binary_const(l->f, IR_ADD, sp, saved[i].at), saved[i].to, end);
	PUT_CONST(exact, 1);
}

/* Computes the stack pointer before the call. */
static void lower_cfa(const struct unwinder *u, ir_reg rule, ir_reg kind, ir_label end)
{
	struct lower *l = u->l;
	const ir_label add = ir_new_label(l->f), plt = ir_new_label(l->f),
		       done = ir_new_label(l->f);
	const ir_reg base = ir_new(l->f);

	ir_branch_const(l->f, IR_EQ, kind, CFI_PLT, plt);
	ir_set(l->f, base, GET(sp));
	ir_branch_const(l->f, IR_EQ, kind, CFI_SP, add);
	ir_set(l->f, base, GET(bx));
	ir_branch_const(l->f, IR_EQ, kind, CFI_BX, add);
	ir_set(l->f, base, GET(bp));
	ir_place(l->f, add);
	ir_set(l->f, base, ir_binary(l->f, IR_ADD, base, RULE(offset)));
	PUT(cfa, base);
	ir_branch_const(l->f, IR_NE, kind, CFI_DEREF, done);
	read_stack(u, base, offsetof(struct state, cfa), end);
	ir_jump(l->f, done);
	ir_place(l->f, plt);
	ir_set(l->f, base, ir_binary_const(l->f, IR_ADD, GET(sp), 8));
	PUT(cfa, base);
	ir_branch(l->f, IR_ULT, ir_binary_const(l->f, IR_AND, GET(ip), 15), RULE(offset), done);
	PUT(cfa, ir_binary_const(l->f, IR_ADD, base, 8));
	ir_place(l->f, done);
}

/* Restores a register from before the call, if it has been saved. */
static void lower_saved(const struct unwinder *u, ir_reg flags, ir_reg offset, int64_t by_cfa,
			int64_t by_bp, size_t to, ir_label end)
{
	struct lower *l = u->l;
	const ir_label saved = ir_new_label(l->f), kept = ir_new_label(l->f);
	const ir_reg base = ir_new(l->f);

	ir_set(l->f, base, GET(cfa));
	ir_branch_const(l->f, IR_SET, flags, by_cfa, saved);
	ir_set(l->f, base, GET(bp));
	ir_branch_const(l->f, IR_EQ, ir_binary_const(l->f, IR_AND, flags, by_bp), 0, kept);
	ir_place(l->f, saved);
	read_stack(u, ir_binary(l->f, IR_ADD, base, offset), to, end);
	ir_place(l->f, kept);
}

/* Computes the caller's registers. If sp does not advance, the stack ends. */
static void lower_caller(const struct unwinder *u, ir_reg rule, ir_reg kind, ir_label end)
{
	struct lower *l = u->l;
	const ir_reg flags = RULE(flags);

	lower_cfa(u, rule, kind, end);
	ir_branch(l->f, IR_ULE, GET(cfa), GET(sp), end);
	lower_saved(u, flags, RULE(bx), CFI_BX_BY_CFA, CFI_BX_BY_BP, offsetof(struct state, bx),
		    end);
	lower_saved(u, flags, RULE(bp), CFI_BP_BY_CFA, CFI_BP_BY_BP, offsetof(struct state, bp),
		    end);
	read_stack(u, ir_binary_const(l->f, IR_SUB, GET(cfa), 8), offsetof(struct state, ip), end);
	PUT(sp, GET(cfa));
	PUT_CONST(exact, 0);
}

static uint32_t lower_unwind_step(const struct unwinder *u)
{
	struct lower *l = u->l;
	struct lower_func before;
	const uint32_t body = lower_body_begin(l, 2, 1, &before);
	const ir_label end = l->in.end, called = ir_new_label(l->f), done = ir_new_label(l->f);
	const ir_reg addr = ir_new(l->f), rule = ir_new(l->f), kind = ir_new(l->f);

	ir_branch_const(l->f, IR_EQ, GET(ip), 0, end);
	add_frame(u, end);
	/*
	 * A call may be the last instruction of a function: then it returns into the next function.
	 */
	ir_set(l->f, addr, ir_binary_const(l->f, IR_SUB, GET(ip), 1));
	ir_branch_const(l->f, IR_EQ, GET(exact), 0, called);
	ir_set(l->f, addr, GET(ip));
	ir_place(l->f, called);
	lower_unwind_page(u, addr, end);
	ir_set(l->f, rule, lower_rule(u, addr, end));
	ir_set(l->f, kind, RULE(kind));
	ir_branch_const(l->f, IR_EQ, kind, CFI_END, end);
	{
		const ir_label usual = ir_new_label(l->f);

		ir_branch_const(l->f, IR_NE, kind, CFI_SIGNAL, usual);
		lower_signal(u, end);
		ir_jump(l->f, done);
		ir_place(l->f, usual);
	}
	lower_caller(u, rule, kind, end);
	ir_place(l->f, done);
	lower_body_end(l, &before);
	return body;
}

/* ---- dw_ustack() ---- */

#define REGS 168 /* bytes of struct pt_regs */
#define SEED 0x51ed270b27b4f3cfll

/* ---- checking ---- */

/* The context of uprobes is the registers of the process. */
static bool has_regs(const struct program *p)
{
	const enum probe_type t = program_probe(p);

	return t == PT_UPROBE || t == PT_URETPROBE || t == PT_USDT;
}

static bool check_unwound(struct checker *c, struct node *n)
{
	static const int helpers[] = {BPF_FUNC_loop, BPF_FUNC_find_vma,
				      BPF_FUNC_get_current_task_btf, BPF_FUNC_task_pt_regs};
	struct member m;
	const char *name;

	if (!check_stack(c, n))
		return false;
	n->vtype.param[0] = 1;
	n->vtype.param[1] = 0;
	if (c->unit->config.dw_ustack == UNSTABLE_ERROR)
		return check_fail(c, n, "%s is refused by the setting unstable_dw_ustack", n->name);
	if (c->unit->config.dw_ustack == UNSTABLE_WARN && c->last)
		source_warning(c->source, n->at, "%s may change in later versions", n->name);
	if (!cfi_here())
		return check_fail(c, n, "%s is not known for this machine: use ustack", n->name);
	for (size_t i = 0; i < ARRAY_SIZE(helpers); i++)
		if ((i < 3 || !has_regs(c->at)) && !check_helper(c, n, helpers[i]))
			return false;
	for (int i = 0; i < UNWIND_FIELDS; i++)
		if (!unwind_field(c->env, (enum unwind_field)i, &m, &name))
			return check_fail(c, n,
					  "%s needs the kernel's types (BTF): '%s' is not known",
					  n->name, name);
	return true;
}

/* ---- a stack ---- */

/* Reads the registers and the address space of the process; jumps to `none` if it has none. */
static void lower_start(const struct unwinder *u, ir_label none)
{
	struct lower *l = u->l;
	const struct regs *regs = regs_of(NULL);
	const int64_t frames = u->state.offset + (int64_t)sizeof(struct state);
	const struct mem scratch = {lower_scratch(l), 0};
	ir_reg from, task, mm;

	if (has_regs(l->prog))
		from = lower_ctx(l);
	else
		from = IR_CALL(l->f, BPF_FUNC_task_pt_regs,
			       ir_call(l->f, BPF_FUNC_get_current_task_btf, 0, NULL));
	mem_read(l, (struct mem){scratch.base, frames}, REGS, SPACE_KERNEL, from);
	PUT(ip, ir_load(l->f, scratch.base, frames + regs->ip, 8, false));
	PUT(sp, ir_load(l->f, scratch.base, frames + regs->sp, 8, false));
	PUT(bp, ir_load(l->f, scratch.base, frames + regs_named(regs, "bp"), 8, false));
	PUT(bx, ir_load(l->f, scratch.base, frames + regs_named(regs, "bx"), 8, false));
	task = ir_call(l->f, BPF_FUNC_get_current_task, 0, NULL);
	mm = unwind_read(u, task, TASK_MM, offsetof(struct state, word));
	ir_branch_const(l->f, IR_EQ, mm, 0, none);
	unwind_read(u, mm, MM_STACK, offsetof(struct state, key.space));
	task = ir_call(l->f, BPF_FUNC_get_current_pid_tgid, 0, NULL);
	task = ir_binary_const(l->f, IR_SHL, ir_binary_const(l->f, IR_SHR, task, 32), 40);
	PUT(key.space, ir_binary(l->f, IR_XOR, GET(key.space), task));
	PUT(now, ir_call(l->f, BPF_FUNC_ktime_get_ns, 0, NULL));
	PUT_CONST(exact, 1);
	PUT_CONST(n, 0);
	PUT(hash, ir_const(l->f, SEED));
	mem_zero(l, (struct mem){scratch.base, frames}, u->depth * 8);
}

static bool prepare(struct lower *l, uint32_t depth, struct unwinder *u)
{
	struct unit_unwind *maps = &l->unit->unwind;
	const uint32_t room = depth * 8 < REGS ? REGS : depth * 8;

	*u = (struct unwinder){
		.l = l,
		.depth = depth,
		.rows = map_internal(l, &maps->rows, "unwind_rows", MAP_ARRAY,
				     UNWIND_ROWS * sizeof(struct unwind_row), 1),
		.rules = map_internal(l, &maps->rules, "unwind_rules", MAP_ARRAY,
				      UNWIND_RULES * sizeof(struct cfi_rule), 1),
		.files = map_keyed(l, &maps->files, "unwind_files", sizeof(struct unwind_file_key),
				   sizeof(struct unwind_file), UNWIND_FILES),
		.pages = map_internal(l, &maps->pages, "unwind_pages", MAP_LRU_HASH,
				      sizeof(struct unwind_page), UNWIND_PAGES),
		.state = mem_alloc_scratch(l, sizeof(struct state) + room),
	};
	if (!maps->note)
		maps->note = unit_add_action(l->unit, ACT_UNWIND);
	u->note = maps->note;
	if (l->failed || !maps->note) {
		l->failed = true;
		return false;
	}
	l->unit->maps.at[u->pages]->key_size = sizeof(struct unwind_page_key);
	return true;
}

/* Unwinds; the state then has the number of frames. */
static bool lower_frames(struct lower *l, uint32_t depth, struct unwinder *u, ir_label none)
{
	uint32_t body;

	if (!prepare(l, depth, u))
		return false;
	lower_start(u, none);
	body = lower_unwind_step(u);
	IR_CALL(l->f, BPF_FUNC_loop, ir_const(l->f, depth), ir_func_address(l->f, body),
		lower_frame_address(l), ir_const(l->f, 0));
	return true;
}

ir_reg lower_unwound_length(struct lower *l, const struct node *n)
{
	const ir_label none = ir_new_label(l->f);
	const ir_reg length = ir_new(l->f);
	struct unwinder unwinder, *u = &unwinder;

	ir_set_const(l->f, length, 0);
	if (lower_frames(l, n->vtype.depth, u, none))
		ir_set(l->f, length, GET(n));
	ir_place(l->f, none);
	return length;
}

static void lower_unwound(struct lower *l, struct node *n, struct value *v)
{
	const uint32_t stacks = lower_stacks(l, &n->vtype, STACKS_UNWOUND);
	const ir_label none = ir_new_label(l->f), stored = ir_new_label(l->f);
	const struct mem m = mem_result(l, v, 16);
	const ir_reg id = ir_new(l->f);
	struct unwinder unwinder, *u = &unwinder;

	ir_set_const(l->f, id, -EFAULT);
	if (!lower_frames(l, n->vtype.depth, u, none))
		return;
	ir_branch_const(l->f, IR_EQ, GET(n), 0, none);
	PUT(word, ir_binary_const(l->f, IR_SHR, GET(hash), 1));
	ir_set(l->f, id,
	       map_update(l, stacks, MEM(word), at_offset(u, sizeof(struct state)), BPF_ANY));
	ir_branch_const(l->f, IR_EQ, id, 0, stored);
	lower_count_probe(l, &l->unit->stacks_lost, "lost_stacks");
	ir_jump(l->f, none);
	ir_place(l->f, stored);
	ir_set(l->f, id, GET(word));
	ir_place(l->f, none);
	mem_store(l, m, 8, id);
	lower_process(l, m);
	set_memory(v, m);
}

#define LIVE (BUILTIN_LIVE | BUILTIN_KERNEL)

const struct builtin builtins_unwind[] = {
	{"dw_ustack", 0, 2, BUILTIN_BOTH | BUILTIN_WORDS | LIVE | BUILTIN_OF_PROBE, check_unwound,
	 lower_unwound, 2},
	BUILTIN_END,
};
