// SPDX-License-Identifier: GPL-2.0-or-later
//
// The strip at the top: the whole trace, how busy its CPUs were, hits of a search, markers, and
// which part of it the picture shows. Drag the part, its edges, or a new one.
import {fitCanvas} from "./dom.js";
import {INTERVALS} from "./api.js";
import {page} from "./colours.js";
import {levelFor} from "./tiles.js";
import {trackOf} from "./trace.js";

const EDGE = 7; // pixels at either side of the part that resize it
const HITS = 6; // height of the lane of hits

export class Overview {
	constructor(app, canvas) {
		this.app = app;
		this.canvas = canvas;
		this.ctx = canvas.getContext("2d");
		this.load = null;
		new ResizeObserver(() => this.redraw()).observe(canvas);
		canvas.addEventListener("pointerdown", (e) => this.down(e));
		canvas.addEventListener("pointermove", (e) => this.drag(e));
		for (const end of ["pointerup", "pointercancel"])
			canvas.addEventListener(end, () => (this.grip = null));
		canvas.addEventListener("wheel", (e) => this.wheel(e), {passive: false});
		canvas.addEventListener("keydown", (e) => this.key(e));
	}

	redraw() {
		if (this.scheduled) return;
		this.scheduled = true;
		requestAnimationFrame(() => {
			this.scheduled = false;
			this.draw();
		});
	}

	get whole() {
		return this.app.motion.whole();
	}

	xOf(t) {
		const {t0, t1} = this.whole;
		return ((t - t0) / (t1 - t0)) * this.canvas.clientWidth;
	}

	timeAt(x) {
		const {t0, t1} = this.whole;
		return t0 + (x / Math.max(1, this.canvas.clientWidth)) * (t1 - t0);
	}

	// Which tiles the strip is made of; the picture's frame asks for them with its own.
	want() {
		const {app} = this;
		const {t0, t1} = this.whole;
		const level = levelFor((t1 - t0) / Math.max(1, this.canvas.clientWidth));
		this.rows = app.trace.rows.filter((r) => r && r.kind === "cpu");
		if (!this.rows.length) this.rows = app.trace.rows.filter(Boolean).slice(0, 64);
		this.covers = this.rows.map((row) => ({
			row,
			pieces: app.tiles.cover(row.row, level, 0, app.trace.duration),
		}));
		const mark = this.covers
			.map((c) => c.pieces.map((p) => `${p.entry.level}.${p.entry.generation}`))
			.join();
		if (mark === this.mark && this.load) return;
		this.mark = mark;
		this.load = null;
		this.redraw();
	}

	// How much of each pixel's time the CPUs were busy, or how many records there were.
	measure() {
		const width = this.canvas.clientWidth;
		const load = new Float64Array(width);
		let running = false;
		for (const {row, pieces} of this.covers) {
			const track = trackOf(row, "running") ?? trackOf(row, "events");
			running ||= track?.kind === "running";
			for (const piece of track ? pieces : []) this.addPiece(load, piece, track);
		}
		const {t0, t1} = this.whole;
		const most = load.reduce((m, v) => Math.max(m, v), 1e-9);
		const full = Math.max(
			most,
			running ? (((t1 - t0) / width) * this.rows.length) / 5 : 1,
		);
		return load.map((v) => (running ? v / full : Math.log1p(v) / Math.log1p(full)));
	}

	addPiece(load, {entry, from, to}, track) {
		const c = entry.tracks[track.track];
		if (!c) return;
		const ticks = track.kind === "events";
		for (let i = 0; i < c.n; i++) {
			const start =
				c.mode === INTERVALS ? c.start[i] : c.base + c.bin[i] * c.width;
			const long = c.mode === INTERVALS ? c.duration[i] : c.width;
			if (start + long < from || start >= to) continue;
			const amount =
				c.mode === INTERVALS
					? ticks
						? 1
						: c.duration[i]
					: ticks
						? c.count[i]
						: c.busy[i];
			this.spread(
				load,
				Math.max(start, from),
				Math.min(start + long, to),
				amount *
					(long && !ticks
						? (Math.min(start + long, to) -
								Math.max(start, from)) /
							long
						: 1),
			);
		}
	}

	// An amount between two times, over the pixels of these.
	spread(load, since, until, amount) {
		const x0 = this.xOf(since),
			x1 = Math.max(this.xOf(until), x0 + 1e-6);
		const last = Math.min(load.length - 1, Math.floor(x1));
		for (let x = Math.max(0, Math.floor(x0)); x <= last; x++)
			load[x] += (amount * (Math.min(x + 1, x1) - Math.max(x, x0))) / (x1 - x0);
	}

	draw() {
		const {ctx, canvas, app} = this;
		fitCanvas(canvas);
		const r = canvas.width / Math.max(1, canvas.clientWidth);
		const width = canvas.clientWidth,
			height = canvas.clientHeight;
		ctx.setTransform(r, 0, 0, r, 0, 0);
		ctx.fillStyle = page.panel;
		ctx.fillRect(0, 0, width, height);
		if (this.covers) this.drawLoad(height - HITS);
		ctx.fillStyle = page.hit;
		for (const [t] of app.search.bins(
			0,
			app.trace.duration,
			app.trace.duration / width,
		))
			ctx.fillRect(this.xOf(t) - 0.75, height - HITS, 1.5, HITS);
		this.drawPart(width, height);
		for (const name of ["a", "b"])
			if (app.state[name] !== null) {
				ctx.fillStyle = page["mark-" + name];
				ctx.fillRect(this.xOf(app.state[name]) - 1, 0, 2, height);
			}
	}

	drawLoad(height) {
		const {ctx, canvas} = this;
		const size = `${canvas.width} ${canvas.height} ${page.accent}`;
		if (!this.load || size !== this.shapeSize) {
			this.load = this.measure();
			this.shape = shapeOf(this.load, height);
			this.shapeSize = size;
		}
		ctx.fillStyle = page.accent;
		ctx.globalAlpha = 0.55;
		ctx.fill(this.shape);
		ctx.globalAlpha = 1;
	}

	// What is not in the picture is dimmed.
	drawPart(width, height) {
		const {ctx, app} = this;
		const {t0, t1} = app.motion.range;
		const x0 = Math.max(0, this.xOf(t0)),
			x1 = Math.min(width, Math.max(this.xOf(t1), x0 + 2));
		ctx.fillStyle = page.bg;
		ctx.globalAlpha = 0.65;
		ctx.fillRect(0, 0, x0, height);
		ctx.fillRect(x1, 0, width - x1, height);
		ctx.globalAlpha = 1;
		if (x0 === 0 && x1 === width) return;
		ctx.strokeStyle = page.accent;
		ctx.lineWidth = 1.5;
		ctx.strokeRect(x0 + 0.75, 0.75, Math.max(1, x1 - x0 - 1.5), height - 1.5);
	}

	down(event) {
		const x = event.offsetX;
		const {t0, t1} = this.app.motion.range;
		const x0 = this.xOf(t0),
			x1 = this.xOf(t1);
		this.canvas.setPointerCapture(event.pointerId);
		const how =
			Math.abs(x - x0) < EDGE && x1 - x0 > 3 * EDGE
				? "left"
				: Math.abs(x - x1) < EDGE && x1 - x0 > 3 * EDGE
					? "right"
					: x > x0 &&
						  x < x1 &&
						  x1 - x0 < this.canvas.clientWidth * 0.95
						? "all"
						: "new";
		this.grip = {how, at: this.timeAt(x), x, t0, t1};
	}

	drag(event) {
		const {grip, app} = this;
		if (!grip) return;
		const t = this.timeAt(event.offsetX);
		const by = t - grip.at;
		if (grip.how === "all") app.motion.show(grip.t0 + by, grip.t1 + by);
		else if (grip.how === "left") app.motion.show(Math.min(t, grip.t1), grip.t1);
		else if (grip.how === "right") app.motion.show(grip.t0, Math.max(t, grip.t0));
		else if (Math.abs(event.offsetX - grip.x) > 3)
			app.motion.show(Math.min(t, grip.at), Math.max(t, grip.at));
	}

	wheel(event) {
		event.preventDefault();
		this.app.motion.zoom(Math.exp(event.deltaY * 0.0018), this.timeAt(event.offsetX));
	}

	key(event) {
		const by = {ArrowLeft: -0.25, ArrowRight: 0.25}[event.key];
		if (!by) return;
		event.preventDefault();
		event.stopPropagation();
		this.app.panBy(by);
	}
}

function shapeOf(load, height) {
	const shape = new Path2D();
	shape.moveTo(0, height);
	load.forEach((v, x) => {
		const y = height - (height - 3) * v;
		shape.lineTo(x, y);
		shape.lineTo(x + 1, y);
	});
	shape.lineTo(load.length, height);
	return shape;
}
