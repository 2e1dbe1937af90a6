// SPDX-License-Identifier: GPL-2.0-or-later
//
// The picture: a frame takes the rows in sight, what there is of their tiles, and draws.
//
// Two canvases lie on each other: the lower has rows and is drawn when the view changes, the upper
// has is selected and marked. A frame is drawn only when something changed. Painters work in pixels
// of the screen; `g` (the geometry) is in units of the layout: CSS pixels, or larger ones on very
// large screens.
import {fitCanvas, uiScale} from "./dom.js";
import {page, FONT} from "./colours.js";
import {Batch, TextFitter} from "./batch.js";
import {Columns} from "./columns.js";
import {firstAt} from "./layout.js";
import {levelFor} from "./tiles.js";
import {drawSlices} from "./draw_slices.js";
import {drawStates} from "./draw_states.js";
import {drawTicks, tickRules} from "./draw_ticks.js";
import {drawCounter, drawLines} from "./draw_counter.js";
import {drawLost, drawHatches, drawOpenEnds} from "./draw_marks.js";
import {drawGutter} from "./draw_gutter.js";
import {drawAxis, drawGrid, gridOf} from "./draw_axis.js";
import {drawOverlay} from "./draw_overlay.js";

const TEXT_SIZE = 11;
const RULER = 30;
const GUTTER_WIDE = 210,
	GUTTER_NARROW = 164,
	NARROW = 1000;
const MOST_PINNED = 0.5; // of the height

// Who draws a track; lanes of other kinds are slices.
const PAINTERS = {
	state: (f, pieces, row, track, lane) => drawStates(f, pieces, track, lane),
	events: (f, pieces, row, track, lane) => drawTicks(f, pieces, track, lane),
	counter: drawCounter,
};

export class Picture {
	constructor(app, canvas, overlay) {
		this.app = app;
		this.canvas = canvas;
		this.overlay = overlay;
		this.ctx = canvas.getContext("2d", {alpha: false});
		this.over = overlay.getContext("2d");
		this.batch = new Batch();
		this.cols = new Columns();
		this.fitter = new TextFitter();
		this.nameColours = [];
		this.dirty = this.overDirty = false;
		this.frames = []; // milliseconds of the last ones
		this.g = {
			zoom: 1,
			width: 1,
			height: 1,
			gutter: GUTTER_WIDE,
			ruler: RULER,
			pinned: 0,
		};
		this.newRules();
		new ResizeObserver(() => this.redraw()).observe(canvas);
	}

	newRules() {
		this.ticks = tickRules(this.app.trace, this.app.state.hideEvents);
	}

	redraw() {
		this.dirty = true;
		this.schedule();
	}

	redrawOverlay() {
		this.overDirty = true;
		this.schedule();
	}

	schedule() {
		if (this.scheduled) return;
		this.scheduled = true;
		requestAnimationFrame(() => {
			this.scheduled = false;
			const began = performance.now();
			if (this.dirty) this.drawRows();
			drawOverlay(this);
			this.dirty = this.overDirty = false;
			this.note(performance.now() - began);
		});
	}

	note(ms) {
		this.frames.push(ms);
		if (this.frames.length > 600) this.frames.shift();
	}

	// Where things are, for this frame and for the mouse until the next.
	measure() {
		fitCanvas(this.canvas);
		if (fitCanvas(this.overlay)) this.overEmpty = true;
		const zoom = uiScale();
		const width = this.canvas.clientWidth / zoom,
			height = this.canvas.clientHeight / zoom;
		const {layout, state, motion} = this.app;
		const pinned = Math.min(layout.pinnedHeight, (height - RULER) * MOST_PINNED);
		const gutter = width < NARROW ? GUTTER_NARROW : GUTTER_WIDE;
		const room = height - RULER - pinned;
		const most = Math.max(0, layout.height - room);
		this.g = {
			zoom,
			width,
			height,
			gutter,
			ruler: RULER,
			pinned,
			room,
			most,
			y: Math.min(Math.max(0, state.y), most),
			ratio: this.canvas.width / width,
			...motion.range,
		};
		this.g.perPixel = (this.g.t1 - this.g.t0) / Math.max(1, width - gutter);
	}

	timeAt(x) {
		return this.g.t0 + (x - this.g.gutter) * this.g.perPixel;
	}

	xOf(t) {
		return this.g.gutter + (t - this.g.t0) / this.g.perPixel;
	}

	// The top of an item in the canvas; null: not in this layout.
	yOf(key) {
		const {layout} = this.app;
		const item = layout.byKey.get(key);
		if (!item) return null;
		return layout.pinned.includes(item)
			? this.g.ruler + item.y
			: this.g.ruler + this.g.pinned + item.y - this.g.y;
	}

	// The items in sight, with the y of their top: those that scroll, or the pinned ones.
	inSight(pinned) {
		const {layout} = this.app;
		const {g} = this;
		const items = pinned ? layout.pinned : layout.items;
		const offset = g.ruler + (pinned ? 0 : g.pinned - g.y);
		const top = pinned ? 0 : g.y;
		const bottom = pinned ? g.pinned : g.y + g.room;
		const found = [];
		for (let i = firstAt(items, top); i < items.length && items[i].y < bottom; i++)
			found.push({item: items[i], y: offset + items[i].y});
		return found;
	}

	drawRows() {
		this.measure();
		const {g, ctx, app} = this;
		app.tiles.begin();
		ctx.setTransform(1, 0, 0, 1, 0, 0);
		ctx.fillStyle = page.bg;
		ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
		const top = g.ruler + g.pinned;
		this.drawPart(this.inSight(false), top, g.height);
		if (g.pinned) this.drawPart(this.inSight(true), g.ruler, top);
		drawAxis(this);
		app.overview.want();
		app.tiles.end();
		app.afterFrame();
	}

	// The items of one part, cut off at its top and bottom.
	drawPart(items, top, bottom) {
		const {ctx, g} = this;
		const {ratio} = g;
		ctx.save();
		ctx.beginPath();
		ctx.rect(
			0,
			Math.round(top * ratio),
			this.canvas.width,
			Math.round((bottom - top) * ratio),
		);
		ctx.clip();
		const f = this.frame(items);
		for (const {item, y} of items) this.background(f, item, y);
		drawGrid(f, this.canvas.height);
		for (const {item, y} of items) if (item.type === "row") this.row(f, item, y);
		f.batch.draw(ctx, f.left);
		drawHatches(f);
		drawOpenEnds(f);
		this.fitter.use(ctx, f.font);
		f.batch.drawTexts(ctx, f.left, (s, w) => this.fitter.fit(s, w));
		drawLines(f);
		drawGutter(this, items);
		ctx.restore();
	}

	// What painters need.
	frame(items) {
		const {g, ctx} = this;
		const ratio = g.ratio;
		const left = Math.round(g.gutter * ratio);
		const width = this.canvas.width - left;
		const lanes = items.reduce((n, {item}) => n + (item.lanes?.length ?? 0), 0);
		const font = `${Math.round(TEXT_SIZE * ratio)}px ${FONT}`;
		this.fitter.use(ctx, font);
		const grid = gridOf(g);
		this.batch.begin(width, lanes, ratio, grid);
		return {
			ctx,
			ratio,
			left,
			font,
			grid,
			trace: this.app.trace,
			batch: this.batch,
			cols: this.cols,
			fitter: this.fitter,
			nameColours: this.nameColours,
			ticks: this.ticks,
			view: {t0: g.t0, scale: width / (g.t1 - g.t0), width},
			level: levelFor((g.t1 - g.t0) / width),
			hatches: [],
			open: [],
			areas: [],
			lines: [],
		};
	}

	background(f, item, y) {
		const {ctx} = this;
		const from = Math.round(y * f.ratio),
			to = Math.round((y + item.h) * f.ratio);
		ctx.fillStyle = item.type === "group" ? page.bg : page.row;
		ctx.fillRect(0, from, this.canvas.width, to - from);
		ctx.fillStyle = page.line;
		ctx.fillRect(0, to - Math.round(f.ratio), this.canvas.width, Math.round(f.ratio));
	}

	row(f, item, y) {
		const {row} = item;
		const pieces = this.app.tiles.cover(row.row, f.level, this.g.t0, this.g.t1);
		if (!pieces.length) return;
		for (const l of item.lanes) {
			const top = Math.round((y + l.y) * f.ratio);
			const lane = f.batch.newLane(
				top,
				Math.round((y + l.y + l.h) * f.ratio) - top,
			);
			for (const track of l.tracks)
				(PAINTERS[track.kind] || drawSlices)(f, pieces, row, track, lane);
		}
		const lost = row.tracks.find((t) => t.kind === "lost");
		if (lost)
			drawLost(
				f,
				pieces,
				lost,
				Math.round(y * f.ratio),
				Math.round((item.h - 2) * f.ratio),
			);
	}
}
