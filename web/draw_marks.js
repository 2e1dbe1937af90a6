// SPDX-License-Identifier: GPL-2.0-or-later
//
// Textures: hatched gaps where events were lost, hatched states, and the torn edges of slices whose
// begin or end the trace does not have.
import {gather} from "./columns.js";
import {page} from "./colours.js";
import {OPEN_START} from "./api.js";

const patterns = new Map();

// A pattern of slanted lines; made once for each colour and scale.
function hatch(ctx, how, ratio) {
	const key = `${how} ${ratio} ${page.dark}`;
	if (patterns.has(key)) return patterns.get(key);
	const size = Math.round((how === "fine" ? 5 : 8) * ratio);
	const tile = document.createElement("canvas");
	tile.width = tile.height = size;
	const pen = tile.getContext("2d");
	pen.strokeStyle = how === "fine" ? "rgba(0,0,0,0.28)" : page["mark-b"];
	pen.lineWidth = (how === "fine" ? 1.2 : 2) * ratio;
	for (const d of [-size, 0, size]) {
		pen.moveTo(d - 1, size + 1);
		pen.lineTo(d + size + 1, -1);
	}
	pen.stroke();
	const pattern = ctx.createPattern(tile, "repeat");
	patterns.set(key, pattern);
	return pattern;
}

// Lost events: over the whole height of the row, for nothing in it is to be trusted there.
export function drawLost(f, pieces, track, y, h) {
	const cols = gather(f.cols, pieces, track.track, f.view);
	for (let i = 0; i < cols.n; i++) {
		const x0 = Math.max(0, cols.x0[i]);
		const w = Math.max(3 * f.ratio, Math.min(cols.x1[i], f.view.width) - x0);
		f.hatches.push({x: x0, y, w, h, how: "lost"});
	}
}

export function drawHatches(f) {
	const {ctx} = f;
	for (const {x, y, w, h, how} of f.hatches) {
		if (how === "lost") {
			ctx.globalAlpha = 0.85;
			ctx.fillStyle = page.panel;
			ctx.fillRect(f.left + x, y, w, h);
			ctx.globalAlpha = 1;
		}
		ctx.fillStyle = hatch(ctx, how, f.ratio);
		ctx.fillRect(f.left + x, y, w, h);
	}
}

// A notch at the side where a slice goes on outside of the trace.
export function drawOpenEnds(f) {
	const {ctx} = f;
	const d = 3 * f.ratio;
	ctx.fillStyle = page.panel;
	ctx.beginPath();
	for (const o of f.open) {
		const start = (o.flags & OPEN_START) !== 0;
		const x = f.left + (start ? o.x0 : o.x1 - f.ratio);
		const s = start ? d : -d;
		for (let y = o.y; y < o.y + o.h; y += 2 * d) {
			ctx.moveTo(x, y);
			ctx.lineTo(x + s, y + d);
			ctx.lineTo(x, y + 2 * d);
		}
	}
	ctx.fill();
}
