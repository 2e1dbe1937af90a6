// SPDX-License-Identifier: GPL-2.0-or-later
//
// Slices with their names in them: who runs on a CPU, where a task runs, interrupts, system calls,
// functions.
import {gather} from "./columns.js";
import {nameColour} from "./colours.js";
import {OPEN_START, OPEN_END} from "./api.js";
import {cpuText} from "./trace.js";

const LABEL_FROM = 22; // CSS pixels
const PAD = 4;
const LEAST = 4; // eighths of a lane that nested slices are high

function taskColour(row) {
	row.colour ??= nameColour(row.label);
	return row.colour;
}

// What colour and text the values of a track have.
function lookOf(f, row, track) {
	const {trace} = f;
	if (track.kind === "running" && row.kind === "cpu")
		return {
			colour: (v) =>
				trace.rows[v] ? taskColour(trace.rows[v]) : nameColour("?"),
			text: (v) => trace.rows[v]?.title ?? "",
			short: (v) => trace.rows[v]?.label ?? "",
		};
	if (track.kind === "running") {
		const own = taskColour(row);
		return {colour: () => own, text: cpuText, short: (v) => String(v)};
	}
	return {
		colour: (v) => (f.nameColours[v] ??= nameColour(trace.name(v))),
		text: (v) => trace.name(v),
		short: (v) => trace.name(v),
	};
}

// Interrupts and calls are short: one that takes little of its pixel must be seen all the same.
function raise(cols) {
	for (let i = 0; i < cols.n; i++) if (cols.cover[i] < LEAST) cols.cover[i] = LEAST;
}

export function drawSlices(f, pieces, row, track, lane) {
	const cols = gather(f.cols, pieces, track.track, f.view);
	if (!cols.n) return;
	if (track.kind !== "running") raise(cols);
	const look = lookOf(f, row, track);
	f.batch.columns(lane, cols, look.colour);
	const from = LABEL_FROM * f.ratio;
	for (let i = 0; i < cols.n; i++) {
		if (!cols.isWide(i)) continue;
		if (cols.x1[i] - cols.x0[i] >= from) label(f, cols, i, look, lane);
		if (cols.flags[i] & (OPEN_START | OPEN_END))
			f.open.push({
				x0: cols.x0[i],
				x1: cols.x1[i],
				y: lane.y,
				h: lane.h,
				flags: cols.flags[i],
			});
	}
}

// A slice that begins left of the picture has its name where it can be seen.
function label(f, cols, i, look, lane) {
	const x = Math.max(0, cols.x0[i]) + PAD * f.ratio;
	const room = Math.min(f.view.width, cols.x1[i]) - x - PAD * f.ratio;
	if (room < (LABEL_FROM - 2 * PAD) * f.ratio) return;
	const value = cols.value[i];
	const long = look.text(value);
	const text = f.fitter.width(long) <= room ? long : look.short(value);
	f.batch.text(text, x, lane.y + lane.h / 2 + 0.5, room);
}
