// SPDX-License-Identifier: GPL-2.0-or-later
//
// A counter as a line with steps. Its scale goes from 0 to the greatest value in sight, which is
// said beside it. Lines are made of rectangles: a path with thousands of corners takes longer than
// all rows.
import {gather} from "./columns.js";
import {page} from "./colours.js";

export function drawCounter(f, pieces, row, track, lane) {
	const cols = gather(f.cols, pieces, track.track, f.view);
	let most = 0;
	for (let i = 0; i < cols.n; i++) most = Math.max(most, cols.value[i]);
	if (!most) return;
	row.most = counterText(row, most);
	const bottom = lane.y + lane.h;
	const thick = Math.max(1, Math.round(f.ratio));
	let end = NaN,
		last = 0;
	for (let i = 0; i < cols.n; i++) {
		// Rounding may leave a pixel between neighbours.
		const next =
			i + 1 < cols.n && cols.x0[i + 1] - cols.x1[i] < 2
				? cols.x0[i + 1]
				: cols.x1[i];
		const x0 = Math.max(0, cols.x0[i]),
			x1 = Math.min(f.view.width, next);
		const y =
			bottom - Math.round(((lane.h - 2 * thick) * cols.value[i]) / most) - thick;
		f.areas.push(f.left + x0, y, x1 - x0, bottom - y);
		f.lines.push(f.left + x0, y, x1 - x0, thick);
		if (Math.abs(x0 - end) <= 1)
			f.lines.push(
				f.left + x0,
				Math.min(y, last),
				thick,
				Math.abs(y - last) + thick,
			);
		end = x1;
		last = y;
	}
}

export function counterText(row, value) {
	if (row.kind === "cpu")
		return value >= 1e6
			? `${(value / 1e6).toFixed(2)} GHz`
			: `${Math.round(value / 1e3)} MHz`;
	return String(value);
}

function fillAll(ctx, rects) {
	for (let i = 0; i < rects.length; i += 4)
		ctx.fillRect(rects[i], rects[i + 1], rects[i + 2], rects[i + 3]);
}

export function drawLines(f) {
	const {ctx} = f;
	ctx.fillStyle = page.accent;
	ctx.globalAlpha = 0.18;
	fillAll(ctx, f.areas);
	ctx.globalAlpha = 1;
	fillAll(ctx, f.lines);
}
