// SPDX-License-Identifier: GPL-2.0-or-later
//
// The selected area, added up: per task and state, CPU, event, function, system call, interrupt.
// Without an area, what the picture shows.
import {get, rowList} from "./api.js";
import {el, fill, button, later, grouped} from "./dom.js";
import {spanText} from "./time.js";
import {Table} from "./table.js";
import {plain} from "./trace.js";

const span = (title, key) => ({
	title,
	number: true,
	text: (r) => (r[key] ? spanText(r[key]) : ""),
	value: (r) => r[key] ?? 0,
});
const count = (title, key) => ({
	title,
	number: true,
	text: (r) => (r[key] ? grouped(r[key]) : ""),
	value: (r) => r[key] ?? 0,
});
const name = (title, f) => ({title, wide: true, link: true, text: f});

const DURATIONS = [
	{...count("count", "count"), says: "that were going on in the selected time"},
	{
		...span("total", "total"),
		says: "from begin to end; what runs within another one of the same name counts once",
	},
	{...span("self", "self"), says: "without what was called from it"},
	{...span("longest", "max"), says: "the longest of them, within the selected time"},
];
const CUT =
	"times are cut at the ends of the selection; where recorded calls of a task overlap, " +
	"the later one begins when the one before it ends";

// What the answer may have: its part, the words for it, and the columns.
function parts(trace) {
	const rowName = (r) => trace.rows[r.row]?.title ?? `row ${r.row}`;
	const ownName = (r) => plain(r.name);
	return [
		{
			key: "tasks",
			title: "tasks",
			sort: 1,
			columns: [
				name("task", rowName),
				span("running", "running"),
				span("runnable", "runnable"),
				span("blocked", "blocked"),
				span("sleeping", "sleeping"),
				span("unknown", "unknown"),
				count("switches", "switches"),
			],
		},
		{
			key: "cpus",
			title: "CPUs",
			sort: 1,
			columns: [
				name("CPU", rowName),
				span("busy", "running"),
				span("unknown", "unknown"),
				count("switches", "switches"),
			],
		},
		{
			key: "events",
			title: "events",
			sort: 1,
			columns: [
				name("event", (r) => trace.eventName(r.id)),
				count("count", "count"),
			],
		},
		{
			key: "functions",
			title: "functions",
			sort: 2,
			says: CUT,
			columns: [name("function", ownName), ...DURATIONS],
		},
		{
			key: "syscalls",
			title: "system calls",
			sort: 2,
			says: CUT,
			columns: [name("system call", ownName), ...DURATIONS],
		},
		{
			key: "irqs",
			title: "interrupts",
			sort: 2,
			says: CUT,
			columns: [name("interrupt", ownName), ...DURATIONS],
		},
	];
}

export class Sums {
	constructor(app, host) {
		this.app = app;
		this.note = el("span", {class: "dim"});
		this.tabs = el("span", {
			class: "tabs small",
			role: "group",
			aria: {label: "what is added up"},
		});
		this.says = el("span", {class: "dim"});
		host.append(el("div", {class: "bar"}, this.note, this.tabs, this.says));
		this.table = new Table(host, "sums", (row) => this.choose(row));
		this.part = "tasks";
		this.soon = later(() => this.ask(), 250);
		app.state.on("area t0 t1", () => this.soon());
	}

	// The pane was opened.
	refresh() {
		this.asked = "";
		this.ask();
	}

	async ask() {
		const {app} = this;
		if (!app.panes.isOpen("sum")) return;
		const question = questionOf(app);
		const key = JSON.stringify(question);
		if (key === this.asked) return;
		this.asked = key;
		this.note.textContent = "…";
		try {
			const answer = await get("sum", question);
			if (key === this.asked) this.show(answer, question);
		} catch (e) {
			this.note.textContent = e.message;
			this.asked = "";
		}
	}

	show(answer, {since, until}) {
		const {area} = this.app.state;
		const where = !area
			? "in the picture"
			: area.rows.length
				? `in ${area.rows.length} rows`
				: "in all rows";
		this.where = `${spanText(until - since)} ${where}`;
		this.answer = answer;
		this.draw();
	}

	draw() {
		if (!this.answer) return;
		const all = parts(this.app.trace).filter((p) => this.answer[p.key]?.length);
		const part = all.find((p) => p.key === this.part) ?? all[0];
		this.note.textContent = this.where;
		this.says.textContent = part?.says ?? "";
		fill(
			this.tabs,
			...all.map((p) =>
				button(
					`${p.title} ${this.answer[p.key].length}`,
					() => {
						this.part = p.key;
						this.draw();
					},
					{aria: {pressed: String(p === part)}},
				),
			),
		);
		if (part)
			this.table.set(part.columns, this.answer[part.key], {
				column: part.sort,
				down: true,
			});
		else this.table.set([], []);
	}

	// A task or CPU: its row. An event, function …: search for it.
	choose(row) {
		if (row.row !== undefined)
			return this.app.showRow(this.app.trace.rows[row.row]?.key, true);
		if (row.id !== undefined)
			return this.app.state.set({
				filter: this.app.trace.eventName(row.id),
				byText: false,
			});
		return this.app.state.set({filter: row.name, byText: true});
	}
}

// {since, until, rows} of the selected area, or of the picture.
export function questionOf(app) {
	const {area} = app.state;
	const {t0, t1} = area ?? app.motion.range;
	const rows = area?.rows
		.map((key) => app.trace.byKey.get(key)?.row)
		.filter((r) => r !== undefined);
	return {
		since: Math.max(0, Math.round(t0)),
		until: Math.max(0, Math.round(t1)),
		rows: rows?.length ? rowList(rows) : undefined,
	};
}
