// SPDX-License-Identifier: GPL-2.0-or-later
//
// Every record as a tick, coloured by the class of its event. Where several share a pixel the
// rarest class is shown: one seldom looks for what there is most of. More records make a higher
// column.
import {INTERVALS} from "./api.js";
import {firstInterval, lowerBin} from "./columns.js";
import {classColour, softClassColour} from "./colours.js";

const SPARSE = 7; // CSS pixels between ticks that are drawn wider
const CROWD = 32; // beside a class: several records in one pixel

// Which events are shown, and in which order classes matter; made when either changes.
export function tickRules(trace, hideEvents) {
	const names = new Set(hideEvents);
	const hidden = new Set(); // ids
	const counts = new Array(32).fill(0);
	const classOf = []; // by id of the event; -1: hidden
	for (const e of trace.events.values()) {
		const c =
			Math.max(
				0,
				typeof e.class === "number"
					? e.class
					: trace.classes.indexOf(e.class),
			) & 31;
		classOf[e.id] = names.has(e.key) ? -1 : c;
		if (names.has(e.key)) hidden.add(e.id);
		else counts[c] += e.count || 1;
	}
	const order = [...counts.keys()]
		.filter((c) => counts[c] > 0)
		.sort((a, b) => counts[a] - counts[b]);
	const mask = order.reduce((m, c) => m | (1 << c), 0);
	return {hidden, mask, classOf, order};
}

function rarest(order, mask) {
	for (const c of order) if (mask & (1 << c)) return c;
	return 0;
}

export function drawTicks(f, pieces, track, lane) {
	const out = f.cols;
	out.n = 0;
	for (const {entry, from, to} of pieces) {
		const c = entry.tracks[track.track];
		if (!c || !c.n) continue;
		if (c.mode === INTERVALS) ticksOf(out, c, from, to, f);
		else binsOf(out, c, from, to, f);
	}
	f.batch.columns(lane, out, (v) => (v & CROWD ? softClassColour(v & 31) : classColour(v)));
}

// A column of so many records. As "wide": they are never joined, or they would not be ticks.
function push(out, x, width, mask, n, f) {
	const high = n > 1 ? Math.min(8, 5 + ((31 - Math.clz32(n)) >> 1)) : 5;
	out.push(x, x + width, rarest(f.ticks.order, mask) | (n > 1 ? CROWD : 0), high, true, 0);
}

function ticksOf(out, c, from, to, f) {
	const {t0, scale, width} = f.view;
	const {classOf} = f.ticks;
	const {start, value, flags} = c;
	const end = Math.min(to, t0 + width / scale);
	const thin = Math.max(1, Math.round(f.ratio));
	const sparse = SPARSE * f.ratio;
	let column = -1,
		mask = 0,
		n = 0,
		before = -Infinity;
	for (let i = firstInterval(c, Math.max(from, t0) - 1); i < c.n && start[i] < end; i++) {
		const kind = classOf[value[i]] ?? 31;
		if (start[i] < from || kind < 0) continue;
		const at = (start[i] - t0) * scale;
		const x = Math.floor(at);
		if (x !== column) {
			if (n)
				push(
					out,
					column,
					at - before > sparse ? 2 * thin : thin,
					mask,
					n,
					f,
				);
			column = x;
			before = at;
			mask = n = 0;
		}
		mask |= 1 << kind;
		n += 1 + flags[i];
	}
	if (n) push(out, column, 2 * thin, mask, n, f);
}

function binsOf(out, c, from, to, f) {
	const {t0, scale, width} = f.view;
	const end = Math.min(to, t0 + width / scale);
	const w = Math.max(1, Math.round(c.width * scale));
	let column = -1,
		mask = 0,
		n = 0;
	for (
		let i = lowerBin(c, Math.floor((Math.max(from, t0) - c.base) / c.width));
		i < c.n;
		i++
	) {
		const start = c.base + c.bin[i] * c.width;
		if (start >= end) break;
		const shown = c.mask[i] & f.ticks.mask;
		if (!shown) continue;
		const x = Math.max(0, Math.floor((start - t0) * scale));
		if (x !== column) {
			if (n) push(out, column, w, mask, n, f);
			column = x;
			mask = n = 0;
		}
		mask |= shown;
		n += c.count[i];
	}
	if (n) push(out, column, w, mask, n, f);
}
