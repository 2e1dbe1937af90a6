// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tiles that were asked for, and asking for them.
//
// Level L has bins of 2^L ns and tiles of 512 bins. An entry is one row's part of a tile, with all
// its tracks. A frame says which entries it would like to have and takes what there is: a coarser
// or finer entry until the right one has come. An entry that holds exact intervals of all its
// tracks serves every finer level, too: nothing more is asked for when one zooms into it.
//
// While the server still indexes, entries that are not complete are asked for again as soon as its
// generation has changed.
import {getTiles, INTERVALS} from "./api.js";

export const TILE_BINS = 512;
const MOST_AT_ONCE = 4; // requests; browsers allow six, and others ask as well
const MOST_BYTES = 160 << 20;
const RETRY_MS = 1000;
const AGAIN_MS = 800; // until an entry that is not complete is asked for again
const DEEPEST = 44;

export class Tiles {
	// generation(): the server's; finished(): it has read everything; arrived(): there is something
	// new to draw.
	constructor(generation, finished, arrived) {
		this.generation = generation;
		this.finished = finished;
		this.arrived = arrived;
		this.rows = new Map(); // number -> Map(key -> entry)
		this.wanted = new Map(); // "level/tile" -> {level, tile, rows}
		this.asked = new Map(); // the same, under way, with abort
		this.bytes = 0;
		this.frame = 0;
		this.notBefore = 0;
		this.error = null; // of what was asked for last
		this.requests = 0; // so far, for those who look
	}

	// A frame begins.
	begin() {
		this.frame++;
		this.wanted.clear();
	}

	// A frame is over: what it would have liked is asked for.
	end() {
		for (const [key, request] of this.asked)
			if (!this.wanted.has(key) && this.frame - request.frame > 3)
				request.abort.abort();
		if (performance.now() < this.notBefore) return;
		for (const [key, want] of this.wanted) {
			if (this.asked.size >= MOST_AT_ONCE) break;
			if (!this.asked.has(key)) this.ask(key, want);
		}
	}

	get idle() {
		return this.wanted.size === 0 && this.asked.size === 0;
	}

	entry(row, level, tile) {
		return this.rows.get(row)?.get(keyOf(level, tile));
	}

	// What there is of a row between two times: [{entry, from, to}], in order, without overlap.
	cover(row, level, t0, t1) {
		const size = TILE_BINS * 2 ** level;
		const first = Math.max(0, Math.floor(t0 / size));
		const last = Math.floor(t1 / size);
		const pieces = [];
		const entries = this.rows.get(row);
		for (let i = first; i <= last; i++) this.coverTile(pieces, entries, row, level, i);
		return pieces;
	}

	// The best entry there is for a row at a time, without asking for a better one.
	peek(row, level, t) {
		const entries = this.rows.get(row);
		const tile = Math.max(0, Math.floor(t / (TILE_BINS * 2 ** level)));
		return (
			entries &&
			(entries.get(keyOf(level, tile)) ??
				this.above(entries, level, tile, () => true))
		);
	}

	coverTile(pieces, entries, row, level, tile) {
		let e = entries?.get(keyOf(level, tile));
		if (!e && entries)
			e = this.above(entries, level, tile, (x) => x.exact && x.complete);
		if (!e || this.stale(e)) this.want(row, level, tile);
		if (!e && entries && this.below(pieces, entries, level, tile)) return;
		if (!e && entries) e = this.above(entries, level, tile, () => true);
		if (e) this.push(pieces, e, level, tile);
	}

	push(pieces, entry, level, tile) {
		const size = TILE_BINS * 2 ** level;
		const last = pieces[pieces.length - 1];
		entry.used = this.frame;
		if (last && last.entry === entry && last.to === tile * size) last.to += size;
		else pieces.push({entry, from: tile * size, to: (tile + 1) * size});
	}

	above(entries, level, tile, fits) {
		for (let l = level + 1; l <= DEEPEST; l++) {
			tile = Math.floor(tile / 2);
			const e = entries.get(keyOf(l, tile));
			if (e && fits(e)) return e;
		}
		return undefined;
	}

	// The two halves of a tile, one level finer.
	below(pieces, entries, level, tile) {
		if (level === 0) return false;
		const a = entries.get(keyOf(level - 1, tile * 2));
		const b = entries.get(keyOf(level - 1, tile * 2 + 1));
		if (!a || !b) return false;
		this.push(pieces, a, level - 1, tile * 2);
		this.push(pieces, b, level - 1, tile * 2 + 1);
		return true;
	}

	// Not more often than that: the server has a trace to read.
	stale(e) {
		if (e.complete || e.generation >= this.generation()) return false;
		return this.finished() || performance.now() - e.since > AGAIN_MS;
	}

	want(row, level, tile) {
		const key = level + "/" + tile;
		let w = this.wanted.get(key);
		if (!w) this.wanted.set(key, (w = {level, tile, rows: []}));
		w.rows.push(row);
	}

	async ask(key, {level, tile, rows}) {
		const abort = new AbortController();
		this.asked.set(key, {abort, frame: this.frame});
		this.requests++;
		try {
			this.take(
				level,
				tile,
				rows,
				await getTiles(level, tile, rows, abort.signal),
			);
		} catch (e) {
			if (e.name !== "AbortError") this.failed(e);
		}
		this.asked.delete(key);
		this.arrived();
	}

	failed(error) {
		this.notBefore = performance.now() + RETRY_MS;
		this.error = error;
		setTimeout(this.arrived, RETRY_MS);
	}

	take(level, tile, rows, {generation, chunks}) {
		this.error = null;
		const fresh = new Map();
		for (const row of rows)
			fresh.set(row, {
				level,
				tile,
				generation,
				complete: true,
				exact: true,
				tracks: [],
				bytes: 64,
				used: this.frame,
				since: performance.now(),
			});
		for (const c of chunks) {
			const e = fresh.get(c.row);
			if (!e) continue;
			c.base = tile * TILE_BINS * 2 ** level;
			c.width = 2 ** level;
			e.tracks[c.track] = c;
			e.complete = e.complete && c.complete;
			e.exact = e.exact && c.mode === INTERVALS;
			e.bytes += 64 + c.n * 24;
		}
		for (const [row, e] of fresh) this.put(row, e);
		if (this.bytes > MOST_BYTES) this.forget();
	}

	put(row, e) {
		let entries = this.rows.get(row);
		if (!entries) this.rows.set(row, (entries = new Map()));
		const key = keyOf(e.level, e.tile);
		this.bytes += e.bytes - (entries.get(key)?.bytes ?? 0);
		entries.set(key, e);
	}

	// Lets go of what was not used for the longest time.
	forget() {
		const all = [];
		for (const [row, entries] of this.rows)
			for (const [key, e] of entries) all.push({row, key, e});
		all.sort((a, b) => a.e.used - b.e.used);
		for (const {row, key, e} of all) {
			if (this.bytes < MOST_BYTES * 0.7) break;
			this.rows.get(row).delete(key);
			this.bytes -= e.bytes;
		}
	}
}

// Tiles of level 0 number at most 2^44.
function keyOf(level, tile) {
	return tile * 64 + level;
}

// The level whose bins are as wide as half a pixel to one.
export function levelFor(nsPerPixel) {
	return Math.min(DEEPEST, Math.max(0, Math.floor(Math.log2(nsPerPixel))));
}
