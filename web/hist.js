// SPDX-License-Identifier: GPL-2.0-or-later
//
// How long slices like the selected one last, or how long a task waits to run after it was woken.
import {get} from "./api.js";
import {el, fill, fitCanvas, later, grouped, uiScale} from "./dom.js";
import {spanText} from "./time.js";
import {page, FONT} from "./colours.js";
import {questionOf} from "./select.js";

const LEFT = 48,
	BOTTOM = 22,
	TOP = 18;
const STATS = ["min", "p50", "p90", "p99", "max"];

export class Histogram {
	constructor(app, host) {
		this.app = app;
		this.what = el(
			"select",
			{aria: {label: "what is measured"}, on: {change: () => this.refresh()}},
			el("option", {value: "duration"}, "duration of slices"),
			el("option", {value: "latency"}, "latency from wakeup to running"),
		);
		this.note = el("span", {class: "dim"});
		this.stats = el("span", {class: "stats"});
		this.canvas = el("canvas", {
			class: "fill",
			role: "img",
			aria: {label: "histogram"},
		});
		host.append(
			el("div", {class: "bar"}, this.what, this.note, this.stats),
			this.canvas,
		);
		this.soon = later(() => this.ask(), 250);
		app.state.on("area slice", () => this.soon());
		app.state.on("t0 t1", () => !app.state.area && this.soon());
		new ResizeObserver(() => this.draw()).observe(this.canvas);
		this.canvas.addEventListener("mousemove", (e) => this.hover(e));
	}

	refresh() {
		this.asked = "";
		this.ask();
	}

	async ask() {
		const {app} = this;
		if (!app.panes.isOpen("hist")) return;
		const p = app.picked;
		const key = app.state.slice?.row ?? app.state.row;
		const row = app.trace.byKey.get(key);
		if (!row) return this.empty("Select a slice or a row.");
		const track =
			p?.kind === "slice" && p.key === key
				? p.track
				: (row.tracks.find((t) => !["events", "lost"].includes(t.kind))
						?.track ?? 0);
		const {since, until} = questionOf(app);
		const question = {what: this.what.value, row: row.row, track, since, until};
		const mark = JSON.stringify(question);
		if (mark === this.asked) return;
		this.asked = mark;
		try {
			this.take(row, track, await get("hist", question), mark);
		} catch (e) {
			this.empty(e.message);
		}
	}

	take(row, track, answer, mark) {
		if (mark !== this.asked) return;
		const kind = row.tracks.find((t) => t.track === track)?.kind ?? "";
		this.data = answer;
		this.note.textContent = `${row.title}, ${this.what.value === "latency" ? "wakeups" : kind}: ${grouped(answer.count)}`;
		fill(
			this.stats,
			...STATS.flatMap((s) => [el("b", {}, s), ` ${spanText(answer[s])} `]),
		);
		this.canvas.setAttribute(
			"aria-label",
			`histogram of ${answer.count}: ` +
				STATS.map((s) => `${s} ${spanText(answer[s])}`).join(", "),
		);
		this.draw();
	}

	empty(why) {
		this.data = null;
		this.note.textContent = why;
		fill(this.stats);
		this.draw();
	}

	draw() {
		const {canvas, data} = this;
		fitCanvas(canvas);
		const ctx = canvas.getContext("2d");
		const zoom = uiScale();
		const r = (canvas.width / Math.max(1, canvas.clientWidth)) * zoom;
		const width = canvas.clientWidth / zoom,
			height = canvas.clientHeight / zoom;
		ctx.setTransform(r, 0, 0, r, 0, 0);
		ctx.clearRect(0, 0, width, height);
		if (!data?.buckets?.length) return;
		this.bar = (width - LEFT - 12) / data.buckets.length;
		const most = Math.max(...data.buckets.map((b) => b.n));
		const bottom = height - BOTTOM;
		ctx.font = `11px ${FONT}`;
		ctx.fillStyle = page.dim;
		ctx.textAlign = "right";
		ctx.fillText(grouped(most), LEFT - 6, TOP + 4);
		ctx.fillText("0", LEFT - 6, bottom);
		ctx.fillStyle = page.line;
		ctx.fillRect(LEFT, bottom, width - LEFT - 12, 1);
		ctx.fillRect(LEFT, TOP, width - LEFT - 12, 1);
		data.buckets.forEach((b, i) => this.column(ctx, b, i, most, bottom));
		this.axis(ctx, bottom);
	}

	column(ctx, b, i, most, bottom) {
		const h = b.n ? Math.max(1.5, ((bottom - TOP) * b.n) / most) : 0;
		ctx.fillStyle = page.accent;
		ctx.fillRect(LEFT + i * this.bar + 1, bottom - h, Math.max(1, this.bar - 2), h);
	}

	// Bounds of buckets, as many as there is room for.
	axis(ctx, bottom) {
		const {buckets} = this.data;
		const every = Math.max(1, Math.ceil(64 / this.bar));
		ctx.fillStyle = page.dim;
		ctx.textAlign = "left";
		for (let i = 0; i < buckets.length; i += every)
			ctx.fillText(spanText(buckets[i].low), LEFT + i * this.bar, bottom + 14);
	}

	hover(event) {
		const b =
			this.data?.buckets?.[
				Math.floor((event.offsetX / uiScale() - LEFT) / this.bar)
			];
		this.canvas.title = b
			? `${spanText(b.low)} to ${spanText(b.high)}: ${grouped(b.n)}`
			: "";
	}
}
