// SPDX-License-Identifier: GPL-2.0-or-later
//
// What lies over the rows: the selected area, markers, hits of a search, the selected slice, who
// woke it, the critical path. The line under the mouse is an element, so that it moves without
// drawing.
import {page, FONT} from "./colours.js";
import {spanText} from "./time.js";
import {firstAt} from "./layout.js";

export function drawOverlay(picture) {
	const {over: ctx, overlay, g, app} = picture;
	const r = g.ratio || 1;
	const empty = isEmpty(app);
	if (empty && picture.overEmpty) return;
	picture.overEmpty = empty;
	ctx.setTransform(1, 0, 0, 1, 0, 0);
	ctx.clearRect(0, 0, overlay.width, overlay.height);
	if (empty) return;
	ctx.setTransform(r, 0, 0, r, 0, 0);
	ctx.save();
	ctx.beginPath();
	ctx.rect(g.gutter, 0, g.width - g.gutter, g.height);
	ctx.clip();
	hits(picture, ctx);
	area(picture, ctx);
	chain(picture, ctx);
	picked(picture, ctx);
	cursor(picture, ctx);
	markers(picture, ctx);
	ctx.restore();
	if (app.drag?.row) dropLine(picture, ctx);
}

// A canvas that stays empty need not be given to the screen again.
function isEmpty(app) {
	const {a, b, area, cursor: c} = app.state;
	return (
		a === null &&
		b === null &&
		!area &&
		!app.picked &&
		!app.chain &&
		!app.search?.hits &&
		!app.drag &&
		!(app.byKeyboard && c !== null)
	);
}

function vertical(ctx, x, top, bottom) {
	ctx.beginPath();
	ctx.moveTo(Math.round(x) + 0.5, top);
	ctx.lineTo(Math.round(x) + 0.5, bottom);
	ctx.stroke();
}

function hits(picture, ctx) {
	const {g, app} = picture;
	ctx.fillStyle = page.hit;
	for (const t of app.search?.inSight(g.t0, g.t1, g.perPixel) ?? [])
		ctx.fillRect(picture.xOf(t) - 1, g.ruler - 8, 2, 7);
}

function area(picture, ctx) {
	const {g, app} = picture;
	const a = app.state.area;
	if (!a) return;
	const x0 = picture.xOf(a.t0),
		x1 = picture.xOf(a.t1);
	ctx.fillStyle = ctx.strokeStyle = page.select;
	ctx.lineWidth = 1;
	ctx.globalAlpha = 0.14;
	if (a.rows.length)
		for (const {y, h} of a.rows.map((key) => band(picture, key)).filter(Boolean))
			ctx.fillRect(x0, y, x1 - x0, h);
	else ctx.fillRect(x0, g.ruler, x1 - x0, g.height);
	ctx.globalAlpha = 1;
	vertical(ctx, x0, 0, g.height);
	vertical(ctx, x1, 0, g.height);
	span(ctx, x0, x1, g.ruler - 4, spanText(a.t1 - a.t0), page.select);
}

// Where a row is; null: not in sight.
function band(picture, key) {
	const y = picture.yOf(key);
	const item = picture.app.layout.byKey.get(key);
	return y === null || y > picture.g.height || y + item.h < picture.g.ruler
		? null
		: {y, h: item.h - 1};
}

// A line with its length in the middle of it.
function span(ctx, x0, x1, y, text, colour) {
	ctx.font = `600 11px ${FONT}`;
	const w = ctx.measureText(text).width + 10;
	const x = (x0 + x1) / 2;
	ctx.fillStyle = colour;
	ctx.fillRect(x0, y, x1 - x0, 2);
	pill(ctx, x - w / 2, y - 15, w, 16, colour);
	ctx.fillStyle = page.panel;
	ctx.textBaseline = "middle";
	ctx.textAlign = "left";
	ctx.fillText(text, x - w / 2 + 5, y - 6.5);
}

function pill(ctx, x, y, w, h, colour) {
	ctx.fillStyle = colour;
	ctx.beginPath();
	ctx.roundRect(x, y, w, h, 3);
	ctx.fill();
}

function markers(picture, ctx) {
	const {g, app} = picture;
	const {a, b} = app.state;
	if (a !== null && b !== null)
		span(
			ctx,
			picture.xOf(Math.min(a, b)),
			picture.xOf(Math.max(a, b)),
			15,
			spanText(Math.abs(b - a)),
			page.dim,
		);
	for (const [name, t, dash] of [
		["a", a, []],
		["b", b, [5, 3]],
	]) {
		if (t === null) continue;
		const x = picture.xOf(t);
		ctx.strokeStyle = page["mark-" + name];
		ctx.lineWidth = 1.5;
		ctx.setLineDash(dash);
		vertical(ctx, x, 0, g.height);
		ctx.setLineDash([]);
		pill(ctx, x - 8, 0, 17, 15, page["mark-" + name]);
		ctx.fillStyle = page.panel;
		ctx.font = `700 11px ${FONT}`;
		ctx.textAlign = "center";
		ctx.textBaseline = "middle";
		ctx.fillText(name.toUpperCase(), x + 0.5, 8);
		ctx.textAlign = "left";
	}
}

// The lane of a track in a row: {y, h}, or of the whole row.
function laneBand(picture, key, track) {
	const y = picture.yOf(key);
	const item = picture.app.layout.byKey.get(key);
	if (y === null || !item.lanes) return null;
	const lane =
		item.lanes.find((l) => l.tracks.some((t) => t.track === track)) ?? item.lanes[0];
	return lane ? {y: y + lane.y, h: lane.h} : {y, h: item.h};
}

function picked(picture, ctx) {
	const {app, g} = picture;
	const p = app.picked;
	if (!p) return;
	if (p.ts !== undefined) {
		ctx.strokeStyle = page.text;
		ctx.lineWidth = 1;
		ctx.globalAlpha = 0.35;
		vertical(ctx, picture.xOf(p.ts), g.ruler, g.height);
		ctx.globalAlpha = 1;
	}
	if (p.slice)
		frameOf(
			picture,
			ctx,
			p.key,
			p.track,
			p.slice.start,
			p.slice.duration,
			page.text,
			2,
		);
	if (p.kind === "event") for (const key of p.keys) eventMark(picture, ctx, key, p.ts);
	if (p.slice?.waker) wakeup(picture, ctx, p);
}

function frameOf(picture, ctx, key, track, start, duration, colour, width) {
	const b = laneBand(picture, key, track);
	if (!b) return;
	const x0 = picture.xOf(start),
		x1 = Math.max(picture.xOf(start + duration), x0 + 2);
	ctx.strokeStyle = colour;
	ctx.lineWidth = width;
	ctx.strokeRect(
		Math.max(x0, -5),
		b.y - 1,
		Math.min(x1, picture.g.width + 5) - Math.max(x0, -5),
		b.h + 2,
	);
}

function eventMark(picture, ctx, key, ts) {
	const b = band(picture, key);
	if (!b) return;
	const x = picture.xOf(ts);
	const y = b.y + b.h;
	ctx.fillStyle = page.text;
	ctx.beginPath();
	ctx.moveTo(x, y - 9);
	ctx.lineTo(x + 5, y);
	ctx.lineTo(x - 5, y);
	ctx.fill();
}

// From who woke to who was woken; dashed when an interrupt did it.
function wakeup(picture, ctx, p) {
	const {trace} = picture.app;
	const from = trace.rows[p.slice.waker.row];
	const a = from && laneBand(picture, from.key, -1);
	const b = laneBand(picture, p.key, p.track);
	if (!a || !b) return;
	// What ends a sleep comes at its end, what makes a task run before it runs.
	const {ts} = p.slice.waker;
	const x0 = picture.xOf(ts),
		x1 = picture.xOf(Math.max(ts, p.slice.start));
	arrow(
		ctx,
		x0,
		a.y + a.h / 2,
		x1,
		b.y + b.h / 2,
		page.chain,
		p.slice.waker.in_interrupt ? [4, 3] : [],
	);
}

function arrow(ctx, x0, y0, x1, y1, colour, dash) {
	const bend = Math.max(24, Math.abs(x1 - x0) / 2);
	ctx.strokeStyle = ctx.fillStyle = colour;
	ctx.lineWidth = 2;
	ctx.setLineDash(dash);
	ctx.beginPath();
	ctx.moveTo(x0, y0);
	ctx.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 3, y1);
	ctx.stroke();
	ctx.setLineDash([]);
	ctx.beginPath();
	ctx.arc(x0, y0, 3, 0, 7);
	ctx.fill();
	ctx.beginPath();
	ctx.moveTo(x1, y1);
	ctx.lineTo(x1 - 8, y1 - 4);
	ctx.lineTo(x1 - 8, y1 + 4);
	ctx.fill();
}

// Steps of the critical path, each in its row, with a line from step to step.
function chain(picture, ctx) {
	const {app} = picture;
	let last = null;
	for (const step of app.chain ?? []) {
		const row = app.trace.rows[step.row];
		const b = row && laneBand(picture, row.key, -1);
		if (!b) {
			last = null;
			continue;
		}
		const x0 = picture.xOf(step.start),
			x1 = picture.xOf(step.end);
		ctx.strokeStyle = page.chain;
		ctx.lineWidth = 3;
		ctx.beginPath();
		ctx.moveTo(Math.max(x0, -5), b.y + b.h + 0.5);
		ctx.lineTo(Math.min(x1, picture.g.width + 5), b.y + b.h + 0.5);
		ctx.stroke();
		if (last) {
			ctx.lineWidth = 1.5;
			ctx.beginPath();
			ctx.moveTo(last.x, last.y);
			ctx.lineTo(last.x, b.y + b.h);
			ctx.stroke();
		}
		last = {x: x0, y: b.y + b.h};
	}
}

// Where the keyboard is.
function cursor(picture, ctx) {
	const {g, app} = picture;
	const {cursor: t, row} = app.state;
	const b = row && band(picture, row);
	if (t === null || !app.byKeyboard) return;
	const x = picture.xOf(t);
	ctx.strokeStyle = page.accent;
	ctx.lineWidth = 1;
	vertical(ctx, x, g.ruler, g.height);
	if (b) {
		ctx.lineWidth = 2;
		ctx.strokeRect(x - 4, b.y + 1, 8, b.h - 2);
	}
}

// Where a row that is dragged would go.
function dropLine(picture, ctx) {
	const {g, app} = picture;
	const y = app.mouse.y - g.ruler - g.pinned + g.y;
	const item = app.layout.items[firstAt(app.layout.items, y)];
	if (!item) return;
	ctx.fillStyle = page.accent;
	ctx.fillRect(0, picture.yOf(item.key) - 1, g.gutter, 3);
}
