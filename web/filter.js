// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is shown and hidden: events, tasks, CPUs. Also the way to a row by its name.
import {byId, el, fill, button, grouped} from "./dom.js";
import {VList} from "./vlist.js";
import {css, classColour, nameColour} from "./colours.js";
import {SORT_NAMES} from "./layout.js";

const KINDS = {task: "Tasks", cpu: "CPUs", event: "Events"};

export class Filter {
	constructor(app) {
		this.app = app;
		this.kind = "task";
		this.dialog = byId("filter");
		this.tabs = el("div", {
			class: "tabs",
			role: "group",
			aria: {label: "what to show and hide"},
		});
		this.text = el("input", {
			type: "search",
			placeholder: "name or number",
			aria: {label: "which"},
			on: {input: () => this.draw()},
		});
		this.note = el("span", {class: "dim"});
		const body = byId("filter-body");
		body.append(
			this.tabs,
			el(
				"div",
				{class: "bar"},
				this.text,
				button("show these", () => this.all(true)),
				button("hide these", () => this.all(false)),
				button("only these", () => this.only()),
				this.note,
			),
		);
		const host = el("div", {class: "filter-list"});
		body.append(host, this.settings());
		this.list = new VList(host, {
			label: "rows and events",
			height: 26,
			show: (e, i) => this.show(e, i),
			choose: (i, e) => this.choose(i, e),
		});
	}

	settings() {
		const {state} = this.app;
		this.sort = el(
			"select",
			{
				aria: {label: "order of tasks"},
				on: {change: () => state.set({sort: this.sort.value, moves: []})},
			},
			...Object.entries(SORT_NAMES).map(([value, text]) =>
				el("option", {value}, text),
			),
		);
		this.process = el("input", {
			type: "checkbox",
			on: {change: () => this.app.groupByProcess()},
		});
		this.clock = el(
			"select",
			{
				aria: {label: "times"},
				on: {change: () => state.set({clock: this.clock.value})},
			},
			el("option", {value: "relative"}, "from the first event"),
			el("option", {value: "trace"}, "as the trace's clock"),
		);
		return el(
			"div",
			{class: "bar"},
			el("label", {}, "tasks by ", this.sort),
			el("label", {}, this.process, " group by process"),
			el("label", {}, "times ", this.clock),
		);
	}

	open() {
		const {state} = this.app;
		this.sort.value = state.sort;
		this.process.checked = state.byProcess;
		this.clock.value = state.clock;
		this.dialog.showModal();
		this.draw();
		this.text.focus();
	}

	// Everything of the kind in front: {id, name, number, events, colour}
	things() {
		const {trace} = this.app;
		if (this.kind === "event")
			return [...trace.events.values()]
				.filter((e) => e.count !== 0)
				.map((e) => ({
					id: e.key,
					name: e.key,
					number: "",
					events: e.count,
					colour: classColour(this.app.classOf(e.id)),
				}));
		return trace.rows
			.filter((r) => r && (this.kind === "task") === (r.kind === "task"))
			.map((r) => ({
				id: r.key,
				name: r.label,
				number: r.kind === "task" ? String(r.pid) : "",
				process: r.process,
				events: r.events,
				colour: r.kind === "task" ? nameColour(r.label) : null,
			}));
	}

	get field() {
		return this.kind === "event" ? "hideEvents" : "hideRows";
	}

	draw() {
		const wanted = this.text.value.toLowerCase();
		this.found = this.things()
			.filter((t) =>
				`${t.name} ${t.number} ${t.process ?? ""}`
					.toLowerCase()
					.includes(wanted),
			)
			.sort((a, b) => (b.events ?? 0) - (a.events ?? 0));
		this.hidden = new Set(this.app.state[this.field]);
		fill(
			this.tabs,
			...Object.entries(KINDS).map(([kind, title]) =>
				button(
					title,
					() => {
						this.kind = kind;
						this.draw();
					},
					{aria: {pressed: String(kind === this.kind)}},
				),
			),
		);
		const off = this.found.filter((t) => this.hidden.has(t.id)).length;
		this.note.textContent = `${grouped(this.found.length)} found, ${grouped(off)} hidden`;
		this.list.setTotal(this.found.length);
		this.list.refresh();
	}

	show(row, index) {
		const t = this.found[index];
		if (!row.cells) {
			row.classList.add("filter-row");
			row.box = el("input", {type: "checkbox", tabIndex: -1});
			row.cells = ["name", "number", "count"].map((c) => el("span", {class: c}));
			row.go = el(
				"button",
				{
					type: "button",
					class: "link",
					tabIndex: -1,
					title: "Shift+Enter",
				},
				"go there",
			);
			row.append(row.box, ...row.cells, row.go);
		}
		row.box.checked = !this.hidden.has(t.id);
		row.box.setAttribute("aria-label", `show ${t.name}`);
		[t.name, t.number, t.events === undefined ? "" : grouped(t.events)].forEach(
			(s, i) => (row.cells[i].textContent = s),
		);
		row.cells[0].style.setProperty(
			"--dot",
			t.colour === null ? "transparent" : css[t.colour],
		);
		row.go.hidden = this.kind === "event";
	}

	// A click on "go there", or Shift and Enter, goes to the row; elsewhere it shows or hides.
	// Arrow keys only move.
	choose(index, event) {
		const t = this.found[index];
		if (event.type === "keydown" && !/^(Enter| )$/.test(event.key)) return;
		const go = event.target.tagName === "BUTTON" || event.shiftKey;
		if (go && this.kind !== "event") {
			this.set([t.id], true);
			this.dialog.close();
			this.app.showRow(t.id, true);
			return;
		}
		this.set([t.id], this.hidden.has(t.id));
	}

	set(ids, shown) {
		const hidden = new Set(this.app.state[this.field]);
		for (const id of ids) hidden[shown ? "delete" : "add"](id);
		this.app.state.set({[this.field]: [...hidden]});
		this.draw();
	}

	all(shown) {
		this.set(
			this.found.map((t) => t.id),
			shown,
		);
	}

	only() {
		const wanted = new Set(this.found.map((t) => t.id));
		this.set(
			this.things().map((t) => t.id),
			true,
		);
		this.set(
			this.things()
				.map((t) => t.id)
				.filter((id) => !wanted.has(id)),
			false,
		);
	}
}
