// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is selected, in words: all that is known of a slice or a record, and where one can go from
// it.
import {el, fill, button} from "./dom.js";
import {spanText, timeText} from "./time.js";
import {valueText, plain, STATES} from "./trace.js";

const MOST_WOKEN = 12; // that are listed at once
const SAID = new Set(["duration", "start", "state"]); // elsewhere in the pane

export class Details {
	constructor(app, host) {
		this.app = app;
		this.host = host;
		this.show(null);
		app.pick.onChange((p, chain) => this.show(p, chain));
		app.state.on("clock", () => this.show(app.picked, app.chain));
	}

	show(p, chain) {
		if (!p)
			return fill(
				this.host,
				el(
					"p",
					{class: "hint"},
					"Click a slice or an event, or move there with the arrow keys and press Enter.",
				),
			);
		fill(
			this.host,
			...(p.kind === "event" ? this.event(p) : this.slice(p)),
			chain && this.chain(chain),
		);
		this.host.scrollTop = 0;
		return this.host;
	}

	// ---- a slice ----

	slice(p) {
		const {app} = this;
		const s = p.slice;
		const track = p.row.tracks.find((t) => t.track === p.track) ?? {kind: "running"};
		const value = valueText(app.trace, p.row, track, s.value);
		const name =
			track.kind === "running" && p.row.kind === "task"
				? `on ${value}`
				: plain(s.name || value);
		const open = openText(s.open);
		return [
			this.head(name, kindText(track.kind)),
			el(
				"div",
				{class: "bar"},
				button("‹ previous", () => app.pick.step(-1), {
					disabled: !s.previous,
					title: "previous (,)",
				}),
				button("next ›", () => app.pick.step(1), {
					disabled: !s.next,
					title: "next (.)",
				}),
				button("zoom", () => app.pick.zoomTo(), {title: "zoom to it (f)"}),
				(p.row.kind === "task" || s.task !== undefined) &&
					button("critical path", () => app.pick.chain(), {
						title: "who it waited for (c)",
					}),
				button("histogram", () => app.panes.show("hist"), {
					title: "of all slices like this (3)",
				}),
				s.event !== null &&
					s.event !== undefined &&
					button("event", () => app.pick.event(s.event), {
						title: "its first record",
					}),
			),
			pairs([
				["row", p.row.title],
				processPair(p.row),
				["begins", timeText(s.start)],
				["lasts", spanText(s.duration) + open],
				s.state !== undefined &&
					s.state !== name && ["state", stateText(s.state)],
				...(s.details || [])
					.filter((d) => !SAID.has(d.label) && !isRow(d, p.row))
					.map((d) => [d.label, plain(d.text)]),
			]),
			s.waker && this.waker(s.waker),
			s.woke?.length ? this.woke(s.woke) : null,
			p.why && this.why(p.why),
		];
	}

	why({words, note}) {
		const lines = words?.trimEnd().split("\n").map(plain);
		return el(
			"section",
			{class: "why"},
			el("h3", {}, "Why it waited"),
			lines ? el("pre", {}, lines.join("\n")) : el("p", {class: "hint"}, note),
		);
	}

	head(name, kind) {
		return el("h2", {}, name, " ", el("small", {}, kind));
	}

	rowLink(number, ts, text) {
		const row = this.app.trace.rows[number];
		return button(text ?? row?.title ?? "unknown", () => this.app.pick.at(number, ts), {
			class: "link",
		});
	}

	waker(w) {
		const how = w.in_interrupt
			? ` (interrupt ${plain(w.interrupt ?? "")} on top of it)`
			: "";
		return el(
			"p",
			{class: "fact waker"},
			"woken by ",
			this.rowLink(w.row, w.ts),
			how,
			w.latency === null || w.latency === undefined
				? null
				: ` ${spanText(w.latency)} before it ran`,
		);
	}

	woke(list) {
		const shown = list.slice(0, MOST_WOKEN);
		const rest = list.length - shown.length;
		return el(
			"p",
			{class: "fact"},
			"woke ",
			...shown
				.flatMap((w, i) => [i ? ", " : null, this.rowLink(w.row, w.ts)])
				.filter((x) => x),
			rest ? ` and ${rest} more` : null,
		);
	}

	chain(steps) {
		const {trace} = this.app;
		return el(
			"section",
			{class: "chain"},
			el("h3", {}, "Critical path, backwards"),
			el(
				"ol",
				{},
				...steps.map((s) =>
					el(
						"li",
						{},
						this.rowLink(
							s.row,
							s.start,
							trace.rows[s.row]?.title,
						),
						` ${stateText(s.state)} for ${spanText(s.end - s.start)}`,
						s.why
							? el(
									"span",
									{class: "dim"},
									` — ${plain(s.why)}`,
								)
							: null,
					),
				),
			),
		);
	}

	// ---- a record ----

	event(p) {
		const {app} = this;
		const e = p.event;
		return [
			this.head(plain(e.event), "event"),
			el(
				"div",
				{class: "bar"},
				button("‹ previous", () => app.pick.step(-1), {
					disabled: p.n === 0,
					title: "previous (,)",
				}),
				button("next ›", () => app.pick.step(1), {title: "next (.)"}),
				button("zoom", () => app.pick.zoomTo(), {title: "zoom to it (f)"}),
				button("hide these", () => app.hideEvent(e.id), {
					title: "hide events of this type",
				}),
			),
			el("p", {class: "text"}, plain(e.text)),
			pairs([
				["time", timeText(e.ts)],
				["CPU", String(e.cpu)],
				[
					"task",
					e.row >= 0
						? this.rowLink(e.row, e.ts)
						: `${plain(e.comm)} ${e.pid}`,
				],
				processPair(app.trace.rows[e.row]),
				e.context?.words?.length
					? ["context", e.context.words.map(plain).join(", ")]
					: null,
				...(e.fields || []).map((f) => [f.name, fieldText(f)]),
			]),
			...(e.stack ?? []).map((s) => this.stack(s)),
			e.note ? el("p", {class: "hint"}, e.note) : null,
		];
	}

	stack({kind, frames}) {
		return el(
			"section",
			{},
			el(
				"h3",
				{},
				kind === "user" ? "Stack of the program" : "Stack of the kernel",
			),
			el("ol", {class: "stack"}, ...frames.map((f) => el("li", {}, plain(f)))),
		);
	}
}

// The value as the event prints it, and the bare number when that says something else.
function fieldText(f) {
	const text = plain(f.text ?? f.value);
	const other =
		f.text !== undefined &&
		f.value !== undefined &&
		f.value !== null &&
		String(f.value) !== String(f.text);
	return other ? `${text} (${plain(f.value)})` : text;
}

// Whose row it is has been said.
function isRow({label}, row) {
	return (label === "task" && row.kind === "task") || (label === "on" && row.kind === "cpu");
}

// The process of a thread that is not its first.
function processPair(row) {
	if (!(row?.tgid >= 0) || row.tgid === row.pid) return null;
	return ["process", `${row.process ?? ""} ${row.tgid}`.trim()];
}

function pairs(list) {
	return el(
		"dl",
		{},
		...list
			.filter(Boolean)
			.flatMap(([name, value]) => [
				el("dt", {}, name),
				el("dd", {}, value ?? ""),
			]),
	);
}

function kindText(kind) {
	const words = {
		running: "runs",
		state: "state",
		irq: "interrupt",
		softirq: "softirq",
		syscall: "system call",
		call: "function",
		counter: "counter",
		lost: "gap",
	};
	return words[kind] ?? kind;
}

function stateText(state) {
	return typeof state === "number" ? (STATES[state] ?? "unknown") : plain(state);
}

// flags as in tiles, or words
function openText(open) {
	if (!open) return "";
	if (typeof open === "string") return ` (${open})`;
	return (
		{1: ", began before the trace", 2: ", did not end in the trace"}[open] ??
		", neither begin nor end in the trace"
	);
}
