// SPDX-License-Identifier: GPL-2.0-or-later
//
// The one slice or record that is selected: asking what it is, going to the next, following
// wakeups.
//
// app.picked is {kind: "slice", key, track, ts, slice, why} or {kind: "event", n, ts, keys, event};
// the state has just enough of it to ask again.
import {get} from "./api.js";
import {trackOf, valueText} from "./trace.js";
import {spanText, timeText} from "./time.js";

const NEIGHBOURS = 100; // records that are looked through for the one that was clicked

export class Pick {
	constructor(app) {
		this.app = app;
		this.asked = 0;
		this.listeners = [];
	}

	onChange(f) {
		this.listeners.push(f);
	}

	tell(picked) {
		this.app.picked = picked;
		this.app.chain = null;
		this.app.picture.redrawOverlay();
		for (const f of this.listeners) f(picked);
	}

	clear() {
		this.asked++;
		this.app.state.set({slice: null, event: null});
		this.tell(null);
	}

	// Runs a question; only the answer to the last one counts.
	async ask(question, quiet = false) {
		const mine = ++this.asked;
		try {
			const answer = await question();
			return mine === this.asked ? answer : null;
		} catch (e) {
			if (mine === this.asked && !(quiet && e.status === 404))
				this.app.say(e.message, e.status !== 404);
			return null;
		}
	}

	async slice(row, track, ts, {reveal = false, quiet = false} = {}) {
		const slice = await this.ask(
			() => get("slice", {row: row.row, track, ts: Math.round(ts)}),
			quiet,
		);
		if (!slice) return null;
		const {kind, depth} = row.tracks.find((t) => t.track === track) ?? {
			kind: "running",
			depth: 0,
		};
		this.app.state.set({
			slice: {row: row.key, kind, depth, ts: slice.start},
			event: null,
			row: row.key,
			cursor: slice.start,
		});
		this.tell({kind: "slice", key: row.key, row, track, ts: slice.start, slice});
		if (reveal) {
			this.app.showRow(row.key);
			this.app.motion.reveal(slice.start);
		}
		this.app.announce(this.words());
		if (kind === "state") this.why(this.app.picked);
		return slice;
	}

	// Why a task waited; what is told of it comes when it has been found out.
	async why(p) {
		try {
			p.why = await get("why", {row: p.row.row, ts: p.slice.start});
		} catch {
			return; // a trace need not tell
		}
		if (this.app.picked === p) for (const f of this.listeners) f(p, this.app.chain);
	}

	async event(n, {reveal = false} = {}) {
		const event = await this.ask(() => get("event", {n}));
		if (!event) return null;
		const keys = this.rowsOf(event).map((r) => r.key);
		this.app.state.set({event: n, slice: null, cursor: event.ts});
		this.tell({kind: "event", n, ts: event.ts, keys, event});
		if (reveal) {
			this.app.motion.reveal(event.ts);
			this.app.showAnyRow(keys);
		}
		this.app.announce(this.words());
		return event;
	}

	// The rows a record is in: its task's and its CPU's.
	rowsOf(event) {
		const {rows} = this.app.trace;
		const task = rows[event.row];
		const same = (r) => !task || (r.file === task.file && r.buffer === task.buffer);
		const cpu = rows.find(
			(r) => r && r.kind === "cpu" && r.cpu === event.cpu && same(r),
		);
		return [task, cpu].filter(Boolean);
	}

	// A tick of the picture: the list has its number.
	async tick({row, ts, id}) {
		const n = await this.ask(() => this.find(row, ts, id));
		return n === null ? null : this.event(n);
	}

	async find(row, ts, id) {
		const {n} = await get("ordinal", {ts: Math.round(ts)});
		const {rows} = await get("events", {at: n, n: NEIGHBOURS});
		const here = (e) => (row.kind === "task" ? e.row === row.row : e.cpu === row.cpu);
		const found =
			rows.find((e) => here(e) && (id === undefined || e.id === id)) ||
			rows.find(here);
		return found ? found.n : n;
	}

	// What the state says, after it came from an address.
	restore() {
		const {slice, event} = this.app.state;
		const row = slice && this.app.trace.byKey.get(slice.row);
		const track = row && trackOf(row, slice.kind, slice.depth);
		if (track) this.slice(row, track.track, slice.ts);
		else if (event !== null) this.event(event);
		else if (this.app.picked) this.tell(null);
	}

	// by: 1 or -1, in the same track; records: in the list.
	step(by) {
		const p = this.app.picked;
		if (!p) return this.app.atCursor();
		if (p.kind === "event") return this.event(Math.max(0, p.n + by), {reveal: true});
		const to = by > 0 ? p.slice.next : p.slice.previous;
		if (!to)
			return this.app.say(
				by > 0 ? "There is no next one." : "There is no previous one.",
			);
		// On a CPU it is the next of the same task, which may have been elsewhere.
		const row = this.app.trace.rows[to.row] ?? p.row;
		return this.slice(row, to.track ?? p.track, to.start, {reveal: true});
	}

	// Goes to a row at a time: where it ran then, or what it waited for.
	async at(rowNumber, ts) {
		const row = this.app.trace.rows[rowNumber];
		if (!row) return this.app.say("That task is not in the picture.");
		const tracks = ["running", "state"]
			.map((kind) => trackOf(row, kind))
			.filter(Boolean);
		for (const {track} of tracks.length ? tracks : row.tracks.slice(0, 1))
			if (await this.slice(row, track, ts, {reveal: true, quiet: true}))
				return this.app.picked;
		this.app.showRow(row.key, true);
		this.app.motion.reveal(ts);
		this.app.state.set({cursor: ts});
		return this.app.say(`It is not known what ${row.title} did then.`);
	}

	waker() {
		const w = this.app.picked?.slice?.waker;
		if (!w) return this.app.say("It is not known who woke it.");
		return this.at(w.row, w.ts);
	}

	async chain() {
		const p = this.app.picked;
		if (p?.kind !== "slice" || p.row.kind === "counter")
			return this.app.say("Select a slice of a task first.");
		// On a CPU it is the task's that ran there.
		const row = p.slice.task ?? p.row.row;
		const steps = await this.ask(() => get("chain", {row, ts: p.slice.start}));
		if (!steps) return null;
		this.app.chain = steps;
		this.app.picture.redrawOverlay();
		for (const f of this.listeners) f(p, steps);
		this.app.announce(`Critical path of ${steps.length} steps.`);
		return steps;
	}

	zoomTo() {
		const p = this.app.picked;
		if (p?.kind === "slice")
			this.app.motion.zoomTo(
				p.slice.start,
				p.slice.start + p.slice.duration,
				0.3,
			);
		else if (p) this.app.motion.zoomTo(p.ts - 5000, p.ts + 5000);
	}

	// For the ear.
	words() {
		const p = this.app.picked;
		if (!p) return "Nothing is selected.";
		if (p.kind === "event")
			return (
				`${p.event.event} of ${p.event.comm} ${p.event.pid} on CPU ${p.event.cpu} at ` +
				`${timeText(p.ts)}: ${p.event.text}`
			);
		const track = p.row.tracks.find((t) => t.track === p.track);
		const name =
			p.slice.name ||
			(track && valueText(this.app.trace, p.row, track, p.slice.value));
		return `${p.row.title}: ${name} for ${spanText(p.slice.duration)} from ${timeText(p.slice.start)}`;
	}
}
