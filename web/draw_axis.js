// SPDX-License-Identifier: GPL-2.0-or-later
//
// The ruler above the rows, and the faint lines of its steps through them.
import {page, FONT} from "./colours.js";
import {niceStep, rulerBase, rulerText, timeText} from "./time.js";

const APART = 110; // CSS pixels at least between the lines

function eachStep(g, f) {
	const step = niceStep(g.perPixel * APART);
	for (let t = Math.floor(g.t0 / step) * step; t <= g.t1; t += step) f(t, step);
}

// Where the lines are, in pixels from the left of the picture.
export function gridOf(g) {
	const xs = [];
	eachStep(g, (t) => xs.push(Math.round(((t - g.t0) / g.perPixel) * g.ratio)));
	return xs.filter((x) => x >= 0 && x < Math.floor((g.width - g.gutter) * g.ratio));
}

// Behind the slices, where lines do not cross out names.
export function drawGrid(f, height) {
	f.ctx.fillStyle = page.grid;
	for (const x of f.grid) f.ctx.fillRect(f.left + x, 0, 1, height);
}

export function drawAxis(picture) {
	const {ctx, g} = picture;
	const r = g.ratio;
	const left = g.gutter * r,
		bottom = g.ruler * r;
	ctx.fillStyle = page.panel;
	ctx.fillRect(0, 0, picture.canvas.width, bottom);
	ctx.save();
	ctx.beginPath();
	ctx.rect(left, 0, picture.canvas.width - left, bottom);
	ctx.clip();
	ctx.font = `${Math.round(11 * r)}px ${FONT}`;
	ctx.textBaseline = "middle";
	let base = 0;
	eachStep(g, (t, step) => line(picture, t, (base = rulerBase(g.t0, step)), step));
	ctx.restore();
	ctx.fillStyle = page.line;
	ctx.fillRect(0, bottom - Math.round(r), picture.canvas.width, Math.round(r));
	ctx.fillRect(left - Math.round(r), 0, Math.round(r), bottom);
	ctx.font = `${Math.round(11 * r)}px ${FONT}`;
	ctx.fillStyle = page.dim;
	ctx.textBaseline = "middle";
	ctx.fillText(baseText(base), 10 * r, bottom / 2);
}

function line(picture, t, base, step) {
	const {ctx, g} = picture;
	const r = g.ratio;
	const x = Math.round(picture.xOf(t) * r);
	ctx.fillStyle = page.line;
	ctx.fillRect(x, g.ruler * r * 0.6, Math.max(1, Math.round(r)), g.ruler * r);
	ctx.fillStyle = page.text;
	ctx.fillText((base ? "+" : "") + rulerText(t - base, step), x + 4 * r, g.ruler * r * 0.42);
}

// What all labels of the ruler are relative to.
function baseText(base) {
	return base ? `${timeText(base).replace(/(\.\d+?)0+$/, "$1")} s` : "time";
}
