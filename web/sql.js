// SPDX-License-Identifier: GPL-2.0-or-later
//
// Questions in SQL, as `spur sql` takes them. A result with a time leads back to the picture.
import {get, post} from "./api.js";
import {el, fill, button, grouped} from "./dom.js";
import {fromTraceClock} from "./time.js";
import {Table} from "./table.js";
import {baseName, plain} from "./trace.js";

const EXAMPLES = {
	"longest time without a break":
		"select ts, cpu, comm, pid, dur, end_state from slices where pid != 0 " +
		"order by dur desc limit 100",
	"longest waits for a CPU":
		"select ts, comm, pid, dur, state from states where state = 'runnable' " +
		"order by dur desc limit 100",
	"busiest tasks":
		"select comm, pid, sum(dur) as running, count(*) as times from slices where pid != 0 " +
		"group by pid, comm order by running desc",
	"wakeup latency":
		"select comm, pid, count(latency) as wakeups, ns(p50(latency)) as p50, " +
		"ns(p99(latency)) as p99, ns(max(latency)) as worst from wakeups group by pid, comm " +
		"order by max(latency) desc",
	"slowest system calls":
		"select ts, cpu, comm, pid, name, dur, ret from syscalls where open is null " +
		"order by dur desc limit 100",
	"longest interrupts": "select ts, cpu, name, dur from irqs order by dur desc limit 100",
	"events by type":
		"select system, event, count(*) as count from events group by system, event " +
		"order by count desc",
};

const PLACEHOLDER = "select … from events where …   (Ctrl+Enter runs it)";

export class Sql {
	constructor(app, host) {
		this.app = app;
		this.text = el("textarea", {
			rows: 2,
			spellcheck: false,
			aria: {label: "SQL query"},
			placeholder: PLACEHOLDER,
			on: {keydown: (e) => this.key(e)},
		});
		this.examples = el(
			"select",
			{aria: {label: "examples"}, on: {change: () => this.example()}},
			el("option", {value: ""}, "examples"),
			...Object.keys(EXAMPLES).map((k) => el("option", {value: k}, k)),
		);
		this.note = el("span", {class: "dim"});
		this.schemas = el("p", {class: "dim schemas", hidden: true});
		this.listed = 0; // files whose schemas were asked for
		host.append(
			el(
				"div",
				{class: "bar sql"},
				this.text,
				el(
					"div",
					{},
					button("run", () => this.run(), {
						class: "primary",
						title: "Ctrl+Enter",
					}),
					this.examples,
				),
			),
			this.schemas,
			el("div", {class: "bar"}, this.note),
		);
		this.table = new Table(host, "results", (row) => this.choose(row));
		app.state.on("query", () => (this.text.value = app.state.query));
		this.text.value = app.state.query;
		app.trace.onChange(() => this.listSchemas());
	}

	refresh() {
		this.text.value = this.app.state.query;
	}

	// Of several files only the first one's tables can be named without saying whose they are.
	async listSchemas() {
		const {files} = this.app.trace;
		if (files.length < 2 || files.length === this.listed) return;
		this.listed = files.length;
		try {
			const {schemas} = await get("schemas");
			const last = schemas[schemas.length - 1].name;
			this.schemas.hidden = schemas.length < 2;
			this.text.placeholder = `${PLACEHOLDER}   another file: from ${last}.events`;
			fill(
				this.schemas,
				"Files: ",
				schemas
					.map((s) => `${s.name} is ${plain(baseName(s.path))}`)
					.join(", "),
				`. Tables without a name before them are of ${schemas[0].name}.`,
			);
		} catch {
			this.schemas.hidden = true; // the answer to a query says what is wrong
		}
	}

	focus() {
		this.text.focus();
	}

	key(event) {
		if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
			event.preventDefault();
			this.run();
		}
	}

	example() {
		if (this.examples.value) this.text.value = EXAMPLES[this.examples.value];
		this.examples.value = "";
		this.run();
	}

	async run() {
		const query = this.text.value.trim();
		if (!query) return;
		this.app.state.set({query});
		this.note.classList.remove("error");
		this.note.textContent = "…";
		const began = performance.now();
		try {
			const answer = await post("sql", {query});
			if (answer.error) throw new Error(answer.error);
			this.show(answer, performance.now() - began);
		} catch (e) {
			this.note.classList.add("error");
			this.note.textContent = e.message;
			this.table.set([], []);
		}
	}

	show({columns, rows, truncated, cut, ts_column: ts}, ms) {
		this.ts = Number.isInteger(ts) ? ts : -1;
		this.pid = columns.indexOf("pid");
		this.cpu = columns.indexOf("cpu");
		this.note.textContent =
			`${grouped(rows.length)} rows${truncated ? " (there are more)" : ""}, ` +
			(cut ? `${grouped(cut)} texts are cut off, ` : "") +
			`${ms.toFixed(0)} ms${this.ts >= 0 ? " — click a row to see it in the picture" : ""}`;
		this.table.set(
			columns.map((title, i) => ({
				title,
				link: i === this.ts,
				number: rows.length > 0 && typeof rows[0][i] === "number",
				text: (r) => plain(r[i]),
				value: (r) => r[i],
			})),
			rows,
		);
	}

	// Goes to the time of a row, and to its task or CPU.
	choose(row) {
		if (this.ts < 0) return;
		const t = fromTraceClock(row[this.ts]);
		if (Number.isNaN(t)) return;
		const {app} = this;
		const task =
			this.pid >= 0 &&
			app.trace.rows.find(
				(r) => r?.kind === "task" && r.pid === Number(row[this.pid]),
			);
		const cpu =
			this.cpu >= 0 &&
			app.trace.rows.find(
				(r) => r?.kind === "cpu" && r.cpu === Number(row[this.cpu]),
			);
		const found = task || cpu;
		app.motion.reveal(t);
		app.state.set({cursor: t});
		if (found) app.pick.at(found.row, t);
	}
}
