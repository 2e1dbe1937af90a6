// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is known of the trace: files, events, rows, names. All of it may still grow while the server
// indexes; numbers of rows and names stay.
//
// A row also has a key, "file.buffer.c3" or "file.buffer.t1234": the same in every session, which
// numbers need not be. Saved views and URLs go by keys.
import {get, getTiles, hasServer} from "./api.js";
import {setTimeBase} from "./time.js";

const KINDS = [
	"running",
	"state",
	"irq",
	"softirq",
	"syscall",
	"call",
	"lost",
	"events",
	"counter",
];
const UNNAMED = "<...>"; // a task, as the list calls it
const MOST_DEPTH = 128; // of calls that the server keeps
const LETTERS = {cpu: "c", task: "t", counter: "n"};
const ROW_KINDS = ["cpu", "task", "counter"];

const FOLLOW_MS = 150; // between two questions for what is new
const RETRY_MS = 1000;
const LOOK_MS = 2000; // between two looks whether something has changed after all
const ROWS_AGAIN_MS = 1000;

export const STATES = [
	"runnable",
	"preempted",
	"sleeping",
	"blocked",
	"stopped",
	"dead",
	"unknown",
];

// Names and text of a file without what would disturb the text around them: control characters, and
// those that turn the direction of writing.
export function plain(text) {
	return String(text ?? "").replace(
		/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g,
		"\ufffd",
	);
}

export class Trace {
	constructor() {
		this.files = [];
		this.buffers = [];
		this.events = new Map(); // by id
		this.classes = [];
		this.rows = []; // by number
		this.byKey = new Map();
		this.names = [];
		this.duration = 0;
		this.progress = 0;
		this.generation = -1;
		this.readAll = -Infinity; // when all rows were asked for
		this.listeners = [];
		this.following = false;
		this.wake = () => {}; // ends the pause between two questions
	}

	// f(trace, what): what is an object that says what changed {rows, duration, progress}.
	onChange(f) {
		this.listeners.push(f);
	}

	// Asks once, then again and again.
	async load() {
		await this.update();
		if (this.following) this.wake();
		else if (hasServer()) this.follow();
	}

	// The server reads: what is new at once. Afterwards only now and then: it may find out later
	// that a file is damaged, or be gone.
	async follow() {
		this.following = true;
		for (;;) {
			const reads = this.progress < 1;
			let wait = reads ? FOLLOW_MS : LOOK_MS;
			try {
				if (reads) await this.update(this.generation);
				else if (!document.hidden && (await this.changed()))
					await this.update();
			} catch {
				wait = Math.max(wait, RETRY_MS);
			}
			await new Promise((done) => {
				this.wake = done;
				setTimeout(done, wait);
			});
		}
	}

	// Tiles of no rows: the shortest answer with a generation.
	async changed() {
		return (await getTiles(0, 0, [])).generation !== this.generation;
	}

	async update(wait = undefined) {
		const before = this.generation;
		const t = await get("trace", {wait});
		const finished = t.progress >= 1 && this.progress < 1;
		Object.assign(this, {
			origin: t.origin,
			files: t.files || [],
			buffers: t.buffers || [],
			classes: t.classes || [],
			canRecord: Boolean(t.can_record),
			version: t.version,
			nanoseconds: t.nanoseconds !== false,
		});
		setTimeBase(this.nanoseconds, this.origin);
		this.events = new Map(
			(t.events || []).map((e) => [e.id, {...e, key: `${e.system}:${e.name}`}]),
		);
		this.duration = Math.max(this.duration, t.duration || 0);
		if (t.generation !== before || finished)
			await Promise.all([
				this.moreNames(),
				this.moreRows(this.firstRow(finished)),
			]);
		// Only now: who sees the new generation may rely on the rows and names of it.
		this.generation = t.generation;
		this.progress = t.progress;
		for (const f of this.listeners) f(this);
	}

	// New rows are at the end. Those before get more tracks now and then: they are read again
	// from time to time, and when all is known.
	firstRow(finished) {
		const now = performance.now();
		if (!finished && now - this.readAll < ROWS_AGAIN_MS) return this.rows.length;
		this.readAll = now;
		return 0;
	}

	async moreNames() {
		const from = this.names.length;
		const names = await get("names", {from});
		names.forEach((name, i) => (this.names[from + i] = plain(name)));
	}

	async moreRows(from) {
		for (const r of await get("rows", {from})) this.takeRow(r);
	}

	takeRow(r) {
		const kind = typeof r.kind === "number" ? ROW_KINDS[r.kind] : r.kind;
		const tracks = (r.tracks || []).map((t) => ({
			track: t.track,
			depth: t.depth || 0,
			kind: typeof t.kind === "number" ? KINDS[t.kind] : t.kind,
		}));
		// Their numbers are in the order in which the server came across them.
		tracks.sort(
			(a, b) =>
				KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || a.depth - b.depth,
		);
		const old = this.rows[r.row];
		const row = Object.assign(old || {}, r, {kind, tracks});
		if (r.comm) row.comm = plain(r.comm);
		if (r.process) row.process = plain(r.process);
		row.number = kind === "task" ? r.pid : (r.cpu ?? 0);
		row.title = title(row);
		row.label = kind === "task" ? row.comm || UNNAMED : row.title;
		if (!old) {
			row.key = this.freeKey(
				`${row.file}.${row.buffer}.${LETTERS[kind]}${row.number}`,
			);
			this.byKey.set(row.key, row);
		}
		this.rows[r.row] = row;
	}

	// A pid may have been given twice.
	freeKey(key) {
		if (!this.byKey.has(key)) return key;
		let n = 2;
		while (this.byKey.has(`${key}~${n}`)) n++;
		return `${key}~${n}`;
	}

	name(number) {
		return this.names[number] ?? "?";
	}

	taskOf(number) {
		return this.rows[number];
	}

	eventName(id) {
		return this.events.get(id)?.name ?? `event ${id}`;
	}

	// Where a row is from, when there is more than one place.
	bufferTitle(row) {
		const buffer = this.buffers[row.buffer] || {};
		const file = this.files[row.file] || {};
		const parts = [];
		if (this.files.length > 1) parts.push(baseName(file.path || `file ${row.file}`));
		if (buffer.name) parts.push(buffer.name);
		return parts.join(" · ") || "main buffer";
	}

	// What somebody who looks at the picture should know, in words.
	get problems() {
		const wrong = this.files.filter((f) => f.error || f.damage);
		const found = wrong.map((f) => `${plain(f.path)}: ${plain(f.error || f.damage)}`);
		for (const f of this.files)
			if (f.missing) found.push(`${plain(f.path)}: ${plain(f.missing)}`);
		const deep = this.rows.filter((r) => r?.tracks.some(isDeepest));
		if (deep.length)
			found.push(
				`Calls are drawn to a depth of ${MOST_DEPTH}; what is deeper is left out in ` +
					`${deep[0].title}${deep.length > 1 ? ` and ${deep.length - 1} more rows` : ""}.`,
			);
		return found;
	}

	// A name for this trace under which views are kept.
	get identity() {
		return this.files.map((f) => f.path).join("|") + "@" + this.origin;
	}
}

export function baseName(path) {
	return path.slice(path.lastIndexOf("/") + 1);
}

function title(row) {
	if (row.kind === "cpu") return `CPU ${row.cpu}`;
	if (row.kind === "counter") return row.name || row.comm || "runnable tasks";
	return `${row.comm || UNNAMED} ${row.pid}`;
}

function isDeepest({kind, depth}) {
	return kind === "call" && depth === MOST_DEPTH - 1;
}

export function trackOf(row, kind, depth = 0) {
	return row.tracks.find((t) => t.kind === kind && t.depth === depth);
}

const NO_NUMBER = 0xffffffff;

export function cpuText(number) {
	return number === NO_NUMBER ? "some CPU" : `CPU ${number}`;
}

function stateWords(row, state) {
	if (state !== "unknown") return state;
	return row.kind === "cpu"
		? "unknown: the trace does not say who had the CPU"
		: "unknown: the trace does not say what the task did";
}

// What an interval of a track is called.
export function valueText(trace, row, track, value) {
	switch (track.kind) {
		case "running":
			return row.kind === "task"
				? cpuText(value)
				: (trace.taskOf(value)?.title ?? `row ${value}`);
		case "state":
			return stateWords(row, STATES[value & 15] ?? "unknown");
		case "lost":
			return value ? `${value} events lost` : "events lost";
		case "events":
			return trace.eventName(value);
		case "counter":
			return String(value);
		default:
			return trace.name(value);
	}
}
