// SPDX-License-Identifier: GPL-2.0-or-later
//
// Answers of a saved page, which has no server: `spur view --html` put a part of them into it.
//
// Tiles are there from the coarsest on, as far as the page had room. A tile has only those tracks
// of which a coarser one did not already hold all intervals; what is not there at all is made of
// the next coarser one: its bins are stretched.
import {answerFrom, ApiError, BINS, decodeTiles, INTERVALS} from "./api.js";

const TILE_BINS = 512;
const DEEPEST = 53;
const EVENTS = new Set(["events", "ordinal", "event"]); // questions that need them
const LEFT_OUT =
	"Fields and stacks of this event are not in this saved page: it would have become too large.";
const NO_WORDS = "That is not in this saved page, which has it of the longest waits only.";
const STATE = 15; // bits of a value
const LAST_WAIT = 4; // states after it are none; see STATES in trace.js
const NOT_HERE = "This saved page cannot do that: open the trace with 'spur view'.";

function refuse(text = NOT_HERE) {
	return new ApiError(text, 404);
}

function unpack(text) {
	const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Response(stream).arrayBuffer();
}

// The first of n for which it holds; n: none.
function lower(n, holds) {
	let low = 0,
		high = n;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (holds(middle)) high = middle;
		else low = middle + 1;
	}
	return low;
}

// The intervals of a chunk that overlap a time.
function between(c, t0, t1) {
	const from = lower(c.n, (i) => c.start[i] + c.duration[i] > t0 || c.start[i] >= t0);
	const to = lower(c.n, (i) => c.start[i] >= t1);
	const part = {...c, n: Math.max(0, to - from)};
	for (const name of ["start", "duration", "value", "flags"])
		part[name] = c[name].subarray(from, Math.max(from, to));
	return part;
}

// The bins of a coarser tile as those of a tile in it: each becomes several, or fills it.
function stretch(c, shift, tile) {
	const many = 2 ** shift;
	const first = (tile % many) * TILE_BINS; // of this tile, in bins of its own level
	const out = [];
	for (let i = 0; i < c.n; i++) {
		const from = Math.max(c.bin[i] * many - first, 0);
		const to = Math.min((c.bin[i] + 1) * many - first, TILE_BINS);
		for (let b = from; b < to; b++)
			out.push([
				b,
				Math.ceil(c.count[i] / many),
				c.busy[i] / many,
				c.value[i],
				c.mask[i],
			]);
	}
	const column = (Type, k) => Type.from(out, (o) => o[k]);
	return {
		...c,
		n: out.length,
		bin: column(Uint32Array, 0),
		count: column(Uint32Array, 1),
		busy: column(Float64Array, 2),
		value: column(Uint32Array, 3),
		mask: column(Uint32Array, 4),
	};
}

class Embedded {
	constructor(data) {
		this.data = data;
		this.trace = {...data.trace, progress: 1, can_record: false};
		this.tiles = new Map(); // "level/tile" -> {text, chunks once it was unpacked}
		for (const [level, tile, text] of data.tiles)
			this.tiles.set(level + "/" + tile, {text});
		this.events = []; // the first that is here is number 0
		this.pages = []; // numbers of the first events of what was packed together
		this.more = []; // by page: fields and stacks, once they were unpacked
		this.total = 0;
		this.ready = this.readEvents(data.events);
	}

	async readEvents(packed) {
		const decoder = new TextDecoder();
		for (const text of packed) {
			const {rows, total} = JSON.parse(decoder.decode(await unpack(text)));
			this.total = total;
			this.pages.push(this.events.length);
			for (const e of rows) this.events.push({...e, n: this.events.length});
		}
	}

	// What the page shows at first: the time it was made of.
	get state() {
		const {since, until, trace} = this.data;
		const parts = [];
		if (since > 0 || until < trace.duration) parts.push(`t0=${since}&t1=${until}`);
		if (this.data.processes) parts.push("processes=1");
		return parts.join("&");
	}

	async get(path, values) {
		if (EVENTS.has(path)) await this.ready;
		const from = values.from ?? 0;
		const n = values.n ?? 0;
		switch (path) {
			case "trace":
				return this.trace;
			case "rows":
				return this.data.rows.slice(from);
			case "names":
				return this.data.names.slice(from);
			case "events":
				return this.someEvents(values.at, n);
			case "ordinal":
				return {n: this.ordinal(values.ts)};
			case "event":
				return this.event(n);
			case "slice":
				return this.slice(values.row, values.track, values.ts);
			case "why":
				return this.why(values.row, values.ts);
			default:
				throw refuse();
		}
	}

	// The last one, when all that are here are before it.
	ordinal(ts) {
		const n = lower(this.events.length, (i) => this.events[i].ts >= ts);
		return Math.max(0, Math.min(this.events.length - 1, n));
	}

	async event(n) {
		if (!this.events[n]) throw refuse("That event is not in this saved page.");
		const more = await this.details(n);
		return {
			...this.events[n],
			...(more ?? {fields: [], stack: null, context: null, note: LEFT_OUT}),
			n,
		};
	}

	// Fields and stacks of an event; undefined: the page had no room for them.
	async details(n) {
		const page = lower(this.pages.length, (i) => this.pages[i] > n) - 1;
		const text = this.data.details[page];
		if (!text) return undefined;
		this.more[page] ??= unpack(text).then(
			(bytes) => JSON.parse(new TextDecoder().decode(bytes)).rows,
		);
		return (await this.more[page])[n - this.pages[page]];
	}

	someEvents(at, n) {
		const total = this.events.length;
		const note = `${total} of ${this.total} events are in this saved page`;
		const rows = this.events.slice(at, at + n);
		return {first: at, total, rows, note: total < this.total ? note : undefined};
	}

	// The chunks of a tile that is here; undefined: it is not.
	async held(level, tile) {
		const t = this.tiles.get(level + "/" + tile);
		if (!t) return undefined;
		t.chunks ??= unpack(t.text).then((bytes) => {
			const {chunks} = decodeTiles(bytes);
			const found = new Map();
			for (const c of chunks) found.set(c.row + "." + c.track, c);
			return found;
		});
		return t.chunks;
	}

	// A tile and all that lie over it, as far as they are here.
	async above(level, tile) {
		const path = [];
		for (let l = level; l <= DEEPEST; l++, tile = Math.floor(tile / 2)) {
			const chunks = await this.held(l, tile);
			if (chunks) path.push({level: l, chunks});
		}
		return path;
	}

	// What is known of a track in a tile; undefined: it is empty.
	chunk(path, level, tile, key) {
		let finer = false; // there is a finer tile, which says that nothing is there
		for (const at of path) {
			const c = at.chunks.get(key);
			const size = TILE_BINS * 2 ** level;
			if (c && c.mode === INTERVALS)
				return between(c, tile * size, (tile + 1) * size);
			if (c) return finer ? undefined : stretch(c, at.level - level, tile);
			finer = true;
		}
		return undefined;
	}

	async getTiles(level, tile, rows) {
		const path = await this.above(level, tile);
		const chunks = [];
		for (const row of rows)
			for (const {track} of this.data.rows[row]?.tracks ?? []) {
				const c = this.chunk(path, level, tile, row + "." + track);
				if (c?.n) chunks.push(c);
			}
		return {generation: this.trace.generation, chunks};
	}

	async slice(row, track, ts) {
		const tile = Math.floor(ts / TILE_BINS);
		const c = this.chunk(await this.above(0, tile), 0, tile, row + "." + track);
		if (c?.mode === BINS)
			throw refuse("What is there is too small for this saved page.");
		const i = c ? lower(c.n, (k) => c.start[k] + c.duration[k] > ts) : 0;
		if (!c || i >= c.n || c.start[i] > ts)
			throw refuse("There is nothing at that time.");
		return {
			start: c.start[i],
			duration: c.duration[i],
			value: c.value[i],
			open: c.flags[i],
			details: [],
			event: null,
		};
	}

	// The words about a wait by its row and start, once they were unpacked.
	async readWhys() {
		const found = new Map();
		const decoder = new TextDecoder();
		for (const text of this.data.whys)
			for (const [row, start, words] of JSON.parse(decoder.decode(await unpack(text))))
				found.set(row + "/" + start, words);
		return found;
	}

	async why(row, ts) {
		const {track} = this.data.rows[row].tracks.find((t) => t.kind === "state");
		const {value} = await this.slice(row, track, ts);
		if ((value & STATE) > LAST_WAIT) throw refuse();
		this.whys ??= this.readWhys();
		const words = (await this.whys).get(row + "/" + ts);
		if (words === null) throw refuse("The trace does not tell.");
		return words === undefined ? {note: NO_WORDS} : {words};
	}

	async post() {
		throw refuse();
	}
}

const data = document.getElementById("embedded");

// null: the page is served.
export const embedded = data ? new Embedded(JSON.parse(data.textContent)) : null;
if (embedded) answerFrom(embedded);
