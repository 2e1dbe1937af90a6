// SPDX-License-Identifier: GPL-2.0-or-later
//
// The names of rows and groups at the left, with what can be done to the row under the mouse.
import {css, nameColour, page, FONT} from "./colours.js";
import {grouped} from "./dom.js";

export const CARET = 18; // the part of a label that folds
export const ICON = 20; // each, from the right: hide, pin

export function drawGutter(picture, items) {
	const {ctx, g} = picture;
	const {ratio} = g;
	const width = Math.round(g.gutter * ratio);
	ctx.fillStyle = page.panel;
	const top = Math.round(items.length ? items[0].y * ratio : 0);
	ctx.fillRect(0, top, width, picture.canvas.height);
	for (const {item, y} of items)
		(item.type === "group" ? groupLabel : rowLabel)(picture, item, y);
	ctx.fillStyle = page.line;
	ctx.fillRect(width - Math.round(ratio), 0, Math.round(ratio), picture.canvas.height);
}

function put(
	picture,
	text,
	x,
	y,
	{size = 12, weight = "", colour = page.text, align = "left"} = {},
) {
	const {ctx, g} = picture;
	ctx.font = `${weight} ${Math.round(size * g.ratio)}px ${FONT}`;
	ctx.fillStyle = colour;
	ctx.textAlign = align;
	ctx.textBaseline = "middle";
	ctx.fillText(text, x * g.ratio, y * g.ratio);
	const w = ctx.measureText(text).width / g.ratio;
	ctx.textAlign = "left";
	return w;
}

function caret(picture, x, y, open) {
	const {ctx, g} = picture;
	const r = g.ratio;
	ctx.strokeStyle = page.dim;
	ctx.lineWidth = 1.5 * r;
	ctx.beginPath();
	const d = 3;
	const points = open
		? [
				[-d, -d / 2],
				[0, d / 2],
				[d, -d / 2],
			]
		: [
				[-d / 2, -d],
				[d / 2, 0],
				[-d / 2, d],
			];
	points.forEach(([dx, dy], i) => ctx[i ? "lineTo" : "moveTo"]((x + dx) * r, (y + dy) * r));
	ctx.stroke();
}

function cut(picture, text, room, size, weight) {
	const {ctx, g} = picture;
	picture.fitter.use(ctx, `${weight} ${Math.round(size * g.ratio)}px ${FONT}`);
	return picture.fitter.fit(text, room * g.ratio);
}

function groupLabel(picture, item, y) {
	const {ctx, g} = picture;
	const middle = y + item.h / 2;
	ctx.fillStyle = page.bg;
	ctx.fillRect(0, y * g.ratio, g.gutter * g.ratio, item.h * g.ratio - g.ratio);
	focusMark(picture, item, y);
	const x = 10 + 10 * item.depth;
	caret(picture, x, middle, item.fold !== "0");
	const title = cut(picture, item.title, g.gutter - 60 - x, 11, "600");
	const colour = item.count ? page.dim : page.text;
	const w = put(picture, title, x + 10, middle, {size: 11, weight: "600", colour});
	if (item.count)
		put(picture, grouped(item.count), x + 16 + w, middle, {size: 11, colour: page.dim});
}

function rowLabel(picture, item, y) {
	const {ctx, g, app} = picture;
	const {row} = item;
	const middle = y + Math.min(item.h / 2, 12);
	const hover = app.hover?.item === item;
	focusMark(picture, item, y);
	if (item.lanes.length > 1 || item.fold !== "1" || item.more)
		caret(picture, 10, middle, item.fold !== "0");
	let x = 20;
	if (row.kind === "task") {
		ctx.fillStyle = css[(row.colour ??= nameColour(row.label))];
		ctx.fillRect(x * g.ratio, (middle - 4) * g.ratio, 8 * g.ratio, 8 * g.ratio);
		x += 13;
	}
	const number = row.kind === "task" ? String(row.pid) : "";
	const right = hover ? 2 * ICON + 4 : 8;
	const numberWidth = number.length * 7 + 6;
	const name = cut(picture, row.label, g.gutter - x - numberWidth - right, 12, "");
	const w = put(picture, name, x, middle);
	put(picture, number, x + w + 6, middle, {size: 11, colour: page.dim});
	if (hover) icons(picture, item, middle);
	laneLabels(picture, item, y);
}

// What the lanes of a row are, beside them, where there is room.
const LANE_NAMES = {
	irq: "interrupts",
	softirq: "softirqs",
	syscall: "system calls",
	call: "functions",
};

function laneLabels(picture, item, y) {
	const {g} = picture;
	let last = "";
	for (const lane of item.lanes) {
		const name = lane.kind === "counter" ? item.row.most : LANE_NAMES[lane.kind];
		if (name && name !== last && (lane.y > 18 || lane.kind === "counter"))
			put(picture, name, g.gutter - 8, y + lane.y + lane.h / 2, {
				size: 10,
				colour: page.dim,
				align: "right",
			});
		last = name;
	}
}

function focusMark(picture, item, y) {
	const {ctx, g, app} = picture;
	if (app.state.row !== item.key) return;
	ctx.fillStyle = page.accent;
	ctx.fillRect(0, y * g.ratio, 3 * g.ratio, (item.h - 1) * g.ratio);
	ctx.globalAlpha = 0.1;
	ctx.fillRect(0, y * g.ratio, g.gutter * g.ratio, (item.h - 1) * g.ratio);
	ctx.globalAlpha = 1;
}

// A pin (filled: it is pinned) and a cross to hide the row.
function icons(picture, item, middle) {
	const {ctx, g, app} = picture;
	const r = g.ratio;
	const pin = g.gutter - 1.5 * ICON - 2,
		cross = g.gutter - 0.5 * ICON - 2;
	ctx.strokeStyle = ctx.fillStyle = page.dim;
	ctx.lineWidth = 1.4 * r;
	ctx.beginPath();
	ctx.arc(pin * r, (middle - 2) * r, 3.2 * r, 0, 7);
	if (app.state.pins.includes(item.key)) ctx.fill();
	ctx.stroke();
	ctx.beginPath();
	ctx.moveTo(pin * r, (middle + 1.5) * r);
	ctx.lineTo(pin * r, (middle + 6) * r);
	for (const s of [-1, 1]) {
		ctx.moveTo((cross - 3.5) * r, (middle - 3.5 * s) * r);
		ctx.lineTo((cross + 3.5) * r, (middle + 3.5 * s) * r);
	}
	ctx.stroke();
}
