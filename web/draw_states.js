// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a task does when it does not run, and where nothing is known of a CPU. States differ in
// height and texture as well as in colour: waiting for a CPU is about half as high as running,
// blocked and unknown are hatched, sleep is a line, and the dead are not drawn.
import {gather} from "./columns.js";
import {stateColour} from "./colours.js";
import {STATES} from "./trace.js";

const EIGHTHS_HIGH = {
	runnable: 5,
	preempted: 5,
	sleeping: 1,
	blocked: 5,
	stopped: 3,
	dead: 0,
	unknown: 4,
};
const HATCHED = new Set(["blocked", "stopped", "unknown"]);
const NAMED = new Set(["runnable", "preempted", "blocked", "stopped", "unknown"]);
const NAME_FROM = 64; // CSS pixels

const stateOf = (value) => STATES[value & 15] ?? "unknown";

// By number, for what is asked of every column of every frame.
const NUMBERS = Array.from({length: 16}, (_, i) => stateOf(i));
const COLOURS = NUMBERS.map((state) => stateColour[state]);
const HIGH = NUMBERS.map((state) => EIGHTHS_HIGH[state]);
const colour = (value) => COLOURS[value & 15];
const tall = (value) => HIGH[value & 15];

export function drawStates(f, pieces, track, lane) {
	const cols = gather(f.cols, pieces, track.track, f.view);
	if (!cols.n) return;
	f.batch.columns(lane, cols, colour, tall);
	for (let i = 0; i < cols.n; i++) if (cols.isWide(i)) decorate(f, cols, i, lane);
}

function decorate(f, cols, i, lane) {
	const state = stateOf(cols.value[i]);
	const x0 = Math.max(0, cols.x0[i]);
	const x1 = Math.min(f.view.width, cols.x1[i]);
	const h = (lane.h * EIGHTHS_HIGH[state]) / 8;
	if (HATCHED.has(state) && x1 - x0 > 3 * f.ratio)
		f.hatches.push({
			x: x0,
			y: lane.y + lane.h - h,
			w: x1 - x0 - f.ratio,
			h,
			how: "fine",
		});
	if (NAMED.has(state) && x1 - x0 > NAME_FROM * f.ratio)
		f.batch.text(
			state,
			x0 + 4 * f.ratio,
			lane.y + lane.h - h / 2 + 0.5,
			x1 - x0 - 8 * f.ratio,
		);
}
