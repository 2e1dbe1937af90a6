// SPDX-License-Identifier: GPL-2.0-or-later
//
// Recording from the page: pick events of this machine's kernel, start, watch, stop, look.
import {get, post} from "./api.js";
import {byId, el, fill, button, later, grouped} from "./dom.js";
import {bytesText} from "./time.js";
import {VList} from "./vlist.js";
import {plain} from "./trace.js";

const POLL_MS = 500;
const USUAL = [
	"sched:sched_switch",
	"sched:sched_wakeup",
	"sched:sched_waking",
	"irq:irq_handler_entry",
	"irq:irq_handler_exit",
	"irq:softirq_entry",
	"irq:softirq_exit",
];

export class Record {
	constructor(app) {
		this.app = app;
		this.dialog = byId("record");
		this.chosen = new Set();
		this.found = [];
		this.match = el("input", {
			type: "search",
			placeholder: "sched, irq, sys_enter_read …",
			aria: {label: "events that match"},
			on: {input: later(() => this.ask(), 150)},
		});
		this.note = el("span", {class: "dim"});
		this.picked = el("p", {class: "picked"});
		this.filter = el("input", {
			placeholder: "filter, for example prev_pid != 0",
			aria: {label: "filter of the kernel"},
		});
		this.seconds = el("input", {
			type: "number",
			min: "1",
			placeholder: "until stopped",
			aria: {label: "seconds"},
		});
		this.start = button("record", () => this.begin(), {class: "primary"});
		this.stop = button("stop and look", () => this.end(), {disabled: true});
		this.state = el("p", {class: "state", role: "status"});
		const host = el("div", {class: "filter-list"});
		byId("record-body").append(
			el(
				"div",
				{class: "bar"},
				this.match,
				button("scheduling", () => this.usual()),
				this.note,
			),
			host,
			this.picked,
			el(
				"div",
				{class: "bar"},
				this.filter,
				el("label", {}, "seconds ", this.seconds),
				this.start,
				this.stop,
			),
			this.state,
		);
		this.list = new VList(host, {
			label: "events of the kernel",
			height: 24,
			show: (e, i) => this.show(e, i),
			choose: (i, e) => this.choose(i, e),
		});
		this.dialog.addEventListener("close", () => clearTimeout(this.timer));
	}

	open() {
		if (!this.app.trace.canRecord)
			return this.app.say(
				"Recording is off. To switch it on, start the view as root: spur view --record",
			);
		this.dialog.showModal();
		this.ask();
		this.poll();
		return this.match.focus();
	}

	async ask() {
		try {
			const {events, total} = await get("record/events", {
				match: this.match.value,
			});
			this.found = events;
			this.note.textContent =
				`${grouped(total)} events` +
				(total > events.length ? `, ${events.length} shown` : "");
			this.list.setTotal(events.length);
			this.draw();
		} catch (e) {
			this.note.textContent = e.message;
		}
	}

	usual() {
		USUAL.forEach((e) => this.chosen.add(e));
		this.draw();
	}

	draw() {
		this.list.refresh();
		fill(
			this.picked,
			this.chosen.size ? "" : el("span", {class: "dim"}, "No event is chosen."),
			...[...this.chosen].map((e) =>
				button(
					`${plain(e)} ×`,
					() => {
						this.chosen.delete(e);
						this.draw();
					},
					{class: "chip", aria: {label: `remove ${e}`}},
				),
			),
		);
	}

	show(row, index) {
		if (!row.cells) {
			row.classList.add("filter-row");
			row.cells = [
				el("input", {type: "checkbox", tabIndex: -1}),
				el("span", {class: "name"}),
			];
			row.append(...row.cells);
		}
		row.cells[0].checked = this.chosen.has(this.found[index]);
		row.cells[0].setAttribute("aria-label", this.found[index]);
		row.cells[1].textContent = plain(this.found[index]);
	}

	choose(index, event) {
		if (event.type === "keydown" && !/^(Enter| )$/.test(event.key)) return;
		const name = this.found[index];
		this.chosen[this.chosen.has(name) ? "delete" : "add"](name);
		this.draw();
	}

	async begin() {
		const events = [...this.chosen];
		const seconds = Number(this.seconds.value) || undefined;
		if (!events.length) return this.say("Choose at least one event.", true);
		try {
			await post("record/start", {
				events,
				filter: this.filter.value || undefined,
				seconds,
			});
			this.last = null;
			return this.poll();
		} catch (e) {
			return this.say(e.message, true);
		}
	}

	say(text, bad = false) {
		this.state.textContent = text;
		this.state.classList.toggle("error", bad);
	}

	async poll() {
		clearTimeout(this.timer);
		try {
			const s = await get("record/state");
			this.showState(s);
			if (s.state === "recording" && this.dialog.open)
				this.timer = setTimeout(() => this.poll(), POLL_MS);
		} catch (e) {
			this.say(e.message, true);
		}
	}

	showState(s) {
		const running = s.state === "recording";
		const began = this.wasRunning;
		this.wasRunning = running;
		this.start.disabled = running;
		this.stop.disabled = !running;
		if (s.state === "failed") return this.say(s.error ?? "It failed.", true);
		if (running) return this.say(this.progress(s));
		if (s.state === "done" && began) return this.finished(s);
		return undefined;
	}

	// How much, and how much per second since the last look.
	progress(s) {
		const now = performance.now();
		const rate = this.last
			? (s.events - this.last.events) / ((now - this.last.at) / 1000)
			: 0;
		this.last = {at: now, events: s.events};
		return (
			`recording for ${Number(s.seconds ?? 0).toFixed(1)} s: ${grouped(s.events ?? 0)} events ` +
			`(${grouped(Math.max(0, rate))} per second), ${bytesText(s.bytes ?? 0)}` +
			(s.lost ? `, ${grouped(s.lost)} lost` : "")
		);
	}

	async end() {
		try {
			this.finished(await post("record/stop", {}));
		} catch (e) {
			this.say(e.message, true);
		}
	}

	// The recording is one more file of this view.
	async finished({path, url}) {
		this.wasRunning = false;
		this.start.disabled = false;
		this.stop.disabled = true;
		this.say(`recorded to ${path}`);
		if (url) {
			location.href = url;
			return;
		}
		await this.app.trace.load();
		this.dialog.close();
		this.app.say(`Recorded to ${path}.`);
		this.app.showFile(path);
	}
}
