// SPDX-License-Identifier: GPL-2.0-or-later
//
// Intervals or bins of a track as what can be seen of them: at most one column per pixel.
//
// A slice that is wider than a pixel stays what it is. Narrower ones share columns: a column has
// the value with most time in it, and how much of it is covered, in eighths. Neighbours that look
// alike become one.
import {INTERVALS} from "./api.js";

export const EIGHTHS = 8;
const WIDE = 1;

export class Columns {
	constructor() {
		this.n = 0;
		this.size = 0;
		this.column = this.beside = 0;
		this.covered = this.most = this.rest = 0.5; // numbers with a point, from the start
		this.best = 0;
		this.drawn = 0.5;
		this.grow(4096);
	}

	grow(size) {
		for (const [name, Type] of [
			["x0", Int32Array],
			["x1", Int32Array],
			["value", Uint32Array],
			["cover", Uint8Array],
			["flags", Uint8Array],
		]) {
			const old = this[name];
			this[name] = new Type(size);
			if (old) this[name].set(old);
		}
		this.size = size;
	}

	push(x0, x1, value, cover, wide, flags) {
		const last = this.n - 1;
		if (
			!wide &&
			last >= 0 &&
			this.x1[last] === x0 &&
			this.value[last] === value &&
			this.cover[last] === cover &&
			!(this.flags[last] & 128)
		) {
			this.x1[last] = x1;
			return;
		}
		if (this.n === this.size) this.grow(this.size * 2);
		const i = this.n++;
		this.x0[i] = x0;
		this.x1[i] = x1;
		this.value[i] = value;
		this.cover[i] = cover;
		this.flags[i] = flags | (wide ? 128 : 0);
	}

	isWide(i) {
		return (this.flags[i] & 128) !== 0;
	}
}

// pieces: of Tiles.cover(); view: {t0, scale (pixels per ns), width (pixels)}. Fills `out`.
export function gather(out, pieces, track, view) {
	out.n = 0;
	out.drawn = -Infinity; // until when
	out.column = NONE; // the one that is being filled; it may be in two pieces
	out.beside = NONE; // the one that a wide slice reaches into, without being drawn there
	for (const {entry, from, to} of pieces) {
		const c = entry.tracks[track];
		if (!c || !c.n) continue;
		if (c.mode === INTERVALS) gatherIntervals(out, c, from, to, view);
		else gatherBins(out, c, from, to, view);
	}
	endColumn(out);
	return out;
}

// Things too small to be seen alone: what of a column they cover, and which of them covers most.
const NONE = -0x80000000; // no column is being filled

function endColumn(out) {
	if (out.column === NONE) return;
	const x = out.column;
	const covered = Math.round(out.covered * EIGHTHS);
	const eighths = covered >= EIGHTHS ? EIGHTHS : covered < 1 ? 1 : covered;
	out.column = NONE;
	out.push(x, x + 1, out.best, eighths, false, 0);
}

function fill(out, column, part, value) {
	if (column !== out.column) {
		endColumn(out);
		out.column = column;
		out.covered = column === out.beside ? out.rest : 0;
		out.most = -1;
	}
	out.covered += part;
	if (part > out.most) {
		out.most = part;
		out.best = value;
	}
}

// What lies in two columns gives each its part: what is busy all the time looks even then.
function spread(out, x, w, part, value) {
	const column = Math.floor(x);
	const here = column + 1 - x;
	if (here >= w) return fill(out, column, part, value);
	fill(out, column, (part * here) / w, value);
	return fill(out, column + 1, (part * (w - here)) / w, value);
}

// The first interval that does not end before t.
export function firstInterval(c, t) {
	let low = 0,
		high = c.n;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (c.start[middle] + c.duration[middle] > t) high = middle;
		else low = middle + 1;
	}
	return low;
}

// The loops below run for every slice of every lane in every frame: what they need is in variables.
function gatherIntervals(out, c, from, to, {t0, scale, width}) {
	const {start, duration, value, flags, n} = c;
	const end = Math.min(to, t0 + width / scale);
	let {drawn} = out;
	for (let i = firstInterval(c, Math.max(from, t0)); i < n && start[i] < end; i++) {
		// One that began in an earlier piece has been drawn with that.
		const until = start[i] + duration[i];
		if (until <= drawn) continue;
		const since = start[i] < drawn ? drawn : start[i];
		const x = (since - t0) * scale;
		const w = (until - since) * scale;
		drawn = until;
		if (w < WIDE) spread(out, x, w, w, value[i]);
		else pushWide(out, x, w, value[i], flags[i] & 3, width);
	}
	out.drawn = drawn;
}

function pushWide(out, x, w, value, flags, width) {
	const left = Math.round(x),
		right = Math.max(Math.round(x + w), left + 1);
	if (out.column === left - 1 && x < left) out.covered += left - x;
	endColumn(out);
	out.push(Math.max(-2, left), Math.min(width + 2, right), value, EIGHTHS, true, flags);
	out.beside = x + w > right ? right : NONE;
	out.rest = x + w - right;
}

function gatherBins(out, c, from, to, {t0, scale, width}) {
	const {bin, busy, value, n, base} = c;
	const w = c.width * scale;
	const begin = Math.max(from, t0),
		end = Math.min(to, t0 + width / scale);
	for (let i = lowerBin(c, Math.floor((begin - base) / c.width)); i < n; i++) {
		const start = base + bin[i] * c.width;
		if (start >= end) break;
		if (w >= WIDE) {
			pushBin(out, c, i, begin, end, t0, scale);
			continue;
		}
		spread(out, (start - t0) * scale, w, busy[i] * scale, value[i]);
	}
	out.drawn = Math.max(out.drawn, end);
}

// One of a coarse tile in place of the right one.
function pushBin(out, c, i, begin, end, t0, scale) {
	const start = c.base + c.bin[i] * c.width;
	const left = Math.round((Math.max(start, begin) - t0) * scale);
	const right = Math.round((Math.min(start + c.width, end) - t0) * scale);
	const eighths = Math.round((c.busy[i] / c.width) * EIGHTHS);
	endColumn(out);
	out.push(
		left,
		Math.max(right, left + 1),
		c.value[i],
		Math.max(1, Math.min(EIGHTHS, eighths)),
		false,
		0,
	);
}

export function lowerBin(c, bin) {
	let low = 0,
		high = c.n;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (c.bin[middle] >= bin) high = middle;
		else low = middle + 1;
	}
	return low;
}
