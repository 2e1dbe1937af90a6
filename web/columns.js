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
	for (const {entry, from, to} of pieces) {
		const c = entry.tracks[track];
		if (!c || !c.n) continue;
		if (c.mode === INTERVALS) gatherIntervals(out, c, from, to, view);
		else gatherBins(out, c, from, to, view);
	}
	return out;
}

// A column of things too small to be seen alone, which cover so much of it.
function pushColumn(out, x, covered, value) {
	const eighths = covered >= 1 ? EIGHTHS : Math.max(1, Math.round(covered * EIGHTHS));
	out.push(x, x + 1, value, eighths, false, 0);
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
const NONE = -0x80000000; // no column is being filled

function gatherIntervals(out, c, from, to, {t0, scale, width}) {
	const {start, duration, value, n} = c;
	const end = Math.min(to, t0 + width / scale);
	let column = NONE,
		covered = 0,
		best = 0,
		most = 0;
	for (let i = firstInterval(c, Math.max(from, t0)); i < n && start[i] < end; i++) {
		// One that began in an earlier piece may have been drawn with that.
		const until = start[i] + duration[i];
		if (until <= out.drawn) continue;
		const since = start[i] < out.drawn ? from : start[i];
		const x = (since - t0) * scale;
		const w = (until - since) * scale;
		if (w < WIDE && Math.floor(x) === column) {
			covered += w;
			if (w > most) {
				most = w;
				best = value[i];
			}
			continue;
		}
		if (column !== NONE) pushColumn(out, column, covered, best);
		column = NONE;
		if (w < WIDE) {
			column = Math.floor(x);
			covered = most = w;
			best = value[i];
			continue;
		}
		const left = Math.max(-2, Math.round(x));
		const right = Math.min(width + 2, Math.max(Math.round(x + w), left + 1));
		out.push(left, right, value[i], EIGHTHS, true, c.flags[i] & 3);
		out.drawn = until;
	}
	if (column !== NONE) pushColumn(out, column, covered, best);
}

function gatherBins(out, c, from, to, {t0, scale, width}) {
	const {bin, busy, value, n} = c;
	const w = c.width * scale;
	const begin = Math.max(from, t0),
		end = Math.min(to, t0 + width / scale);
	let column = NONE,
		covered = 0,
		best = 0,
		most = 0;
	for (let i = lowerBin(c, Math.floor((begin - c.base) / c.width)); i < n; i++) {
		const start = c.base + bin[i] * c.width;
		if (start >= end) break;
		const x = (start - t0) * scale;
		const part = busy[i] / c.width;
		if (w >= WIDE) {
			// A coarse tile in place of the right one.
			const left = Math.round(x);
			out.push(
				left,
				Math.max(Math.round(x + w), left + 1),
				value[i],
				Math.max(1, Math.min(EIGHTHS, Math.round(part * EIGHTHS))),
				false,
				0,
			);
			continue;
		}
		if (Math.floor(x) !== column) {
			if (column !== NONE) pushColumn(out, column, covered, best);
			column = Math.floor(x);
			covered = most = 0;
		}
		covered += part * w;
		if (part >= most) {
			most = part;
			best = value[i];
		}
	}
	if (column !== NONE) pushColumn(out, column, covered, best);
	out.drawn = Math.max(out.drawn, end);
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
