// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dw_ustack(): the table for a page of a process. Most pages have been met before. For others the
 * kernel is asked which file is mapped there; what of that is not known either, user space is told,
 * and will know better next time.
 */
#include <errno.h>
#include <string.h>

#include "lang/unwind_parts.h"

#define BELIEVED 1000000000 /* ns after which a page is looked for once more, if that can be */

_Static_assert(offsetof(struct state, note) == offsetof(struct state, head) + 8, "one record");

/* ---- fields of the kernel ---- */

bool unwind_field(struct env *e, enum unwind_field which, struct member *m, const char **name)
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

ir_reg unwind_read(const struct unwinder *u, ir_reg object, enum unwind_field which, size_t to)
{
	struct member m = {0};
	const char *name;

	unwind_field(u->l->c->env, which, &m, &name);
	mem_read(u->l, at_offset(u, to), 8, SPACE_KERNEL,
		 ir_binary_const(u->l->f, IR_ADD, object, (int64_t)m.offset));
	return get_word(u, to);
}

/* ---- pages ---- */

/* The function that is called with the mapping around an address: which file it is. */
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

/* Tells user space what is missing; inode 0 for whatever the process has mapped. */
static void send_note(const struct unwinder *u, ir_reg addr)
{
	struct lower *l = u->l;
	const ir_reg pid = lower_proc_pid(l);

	lower_head(l, at_offset(u, offsetof(struct state, head)), u->note);
	PUT(note.pid, pid);
	PUT(note.addr, addr);
	PUT(note.file.inode, GET(file.inode));
	PUT(note.file.size, GET(file.size));
	lower_send(l, u->note, at_offset(u, offsetof(struct state, head)),
		   sizeof(struct action_record) + sizeof(struct unwind_note), 0);
}

/* A file that nobody has met: the entry makes sure that it is told once. */
static void lower_new_file(const struct unwinder *u, ir_reg addr, ir_label end)
{
	struct lower *l = u->l;

	mem_zero(l, at_offset(u, offsetof(struct state, none)), sizeof(struct unwind_file));
	IR_CALL(l->f, BPF_FUNC_map_update_elem, ir_map(l->f, u->files), AT(file), AT(none),
		ir_const(l->f, BPF_NOEXIST));
	send_note(u, addr);
	ir_jump(l->f, end);
}

/* What to do without an answer: what was known of the page, if anything, is taken for true. */
static void lower_no_answer(const struct unwinder *u, ir_reg addr, ir_label known, ir_label end)
{
	struct lower *l = u->l;

	ir_branch_const(l->f, IR_NE,
			mem_load(l, at_offset(u, offsetof(struct state, page.nr)), 4, false), 0,
			known);
	send_note(u, addr);
	ir_jump(l->f, end);
}

/*
 * A page that is not known: the kernel tells the file, unless it cannot be asked. With interrupts
 * off it answers once, so that user space has to help.
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
	ir_set(l->f, file,
	       IR_CALL(l->f, BPF_FUNC_map_lookup_elem, ir_map(l->f, u->files), AT(file)));
	ir_branch_const(l->f, IR_NE, file, 0, known);
	lower_new_file(u, addr, end);
	ir_place(l->f, known);
	ir_branch_const(l->f, IR_EQ,
			ir_load(l->f, file, offsetof(struct unwind_file, nr), 4, false), 0, end);
	mem_copy(l, at_offset(u, offsetof(struct state, page)), (struct mem){file, 0}, 8);
	PUT(page.bias,
	    ir_binary(l->f, IR_ADD, GET(start),
		      ir_load(l->f, file, offsetof(struct unwind_file, bias), 8, false)));
	PUT(page.ns, GET(now));
	IR_CALL(l->f, BPF_FUNC_map_update_elem, ir_map(l->f, u->pages), AT(key), AT(page),
		ir_const(l->f, BPF_ANY));
}

void lower_unwind_page(const struct unwinder *u, ir_reg addr, ir_label end)
{
	struct lower *l = u->l;
	const ir_label look = ir_new_label(l->f), done = ir_new_label(l->f);
	const ir_reg page = ir_new(l->f);

	PUT(key.page, ir_binary_const(l->f, IR_SHR, addr, UNWIND_PAGE_BITS));
	mem_zero(l, at_offset(u, offsetof(struct state, page)), 8);
	ir_set(l->f, page,
	       IR_CALL(l->f, BPF_FUNC_map_lookup_elem, ir_map(l->f, u->pages), AT(key)));
	ir_branch_const(l->f, IR_EQ, page, 0, look);
	mem_copy(l, at_offset(u, offsetof(struct state, page)), (struct mem){page, 0},
		 sizeof(struct unwind_page));
	ir_branch_const(l->f, IR_SLT, ir_binary(l->f, IR_SUB, GET(now), GET(page.ns)), BELIEVED,
			done);
	ir_place(l->f, look);
	lower_new_page(u, addr, done, end);
	ir_place(l->f, done);
}
