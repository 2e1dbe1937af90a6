// SPDX-License-Identifier: GPL-2.0-or-later
//
// The flame graph of the selected area: who called what, as wide as it took. Click to go into a
// function, click what lies under it to come back. With the keyboard: the arrow keys go to callers,
// callees and what is beside, Enter goes into it, Backspace comes back.
import {get} from "./api.js";
import {el, fitCanvas, later, grouped, uiScale} from "./dom.js";
import {css, nameColour, page, FONT} from "./colours.js";
import {TextFitter} from "./batch.js";
import {questionOf} from "./select.js";
import {spanText} from "./time.js";
import {plain} from "./trace.js";

const ROW_HEIGHT = 18;
const NARROWEST = 0.5; // pixels
const DEEPEST = 400;

export class Flame {
	constructor(app, host) {
		this.app = app;
		this.note = el("span", {class: "dim"}, "…");
		this.find = el("input", {
			type: "search",
			placeholder: "function",
			aria: {label: "mark functions"},
			on: {input: () => this.draw()},
		});
		this.canvas = el("canvas", {
			role: "img",
			tabIndex: 0,
			aria: {label: "flame graph"},
		});
		this.scroll = el("div", {class: "fill scroll"}, this.canvas);
		host.append(el("div", {class: "bar"}, this.note, this.find), this.scroll);
		this.fitter = new TextFitter();
		this.soon = later(() => this.ask(), 250);
		app.state.on("area t0 t1", () => this.soon());
		new ResizeObserver(() => this.draw()).observe(this.scroll);
		this.canvas.addEventListener("mousemove", (e) => this.hover(e));
		this.canvas.addEventListener("click", (e) => this.click(e));
		this.canvas.addEventListener("keydown", (e) => this.key(e));
	}

	refresh() {
		this.asked = "";
		this.ask();
	}

	async ask() {
		if (!this.app.panes.isOpen("flame")) return;
		const question = questionOf(this.app);
		const mark = JSON.stringify(question);
		if (mark === this.asked) return;
		this.asked = mark;
		try {
			const root = await get("flame", question);
			if (mark !== this.asked) return;
			this.root = root;
			this.zoom(root);
		} catch (e) {
			this.root = this.top = null;
			this.note.textContent = e.message;
			this.draw();
		}
	}

	zoom(node) {
		this.top = this.at = node;
		this.draw();
	}

	// ---- the keyboard ----

	key(event) {
		const to = {
			ArrowDown: () => this.go(this.at.children?.find((c) => this.isShown(c))),
			ArrowUp: () => this.go(this.pathTo(this.at).at(-2)),
			ArrowLeft: () => this.go(this.beside(-1)),
			ArrowRight: () => this.go(this.beside(1)),
			Enter: () => this.zoom(this.at),
			Backspace: () => this.zoom(this.pathTo(this.top).at(-2) ?? this.root),
		}[event.key];
		if (!to || !this.root?.value) return;
		event.preventDefault();
		event.stopPropagation();
		to();
		this.app.announce(this.words(this.at));
	}

	isShown(node) {
		return this.frames.some((f) => f.node === node);
	}

	// The next frame to the left or right that is as deep.
	beside(by) {
		const own = this.frames.find((f) => f.node === this.at);
		const row = this.frames
			.filter((f) => f.depth === own?.depth)
			.sort((a, b) => a.x - b.x);
		return row[row.indexOf(own) + by]?.node;
	}

	go(node) {
		if (!node) return;
		this.at = node;
		this.draw();
		const depth = this.frames.find((f) => f.node === node)?.depth ?? 0;
		this.scroll.scrollTop = Math.min(this.scroll.scrollTop, depth * this.rowHeight);
		const below = (depth + 1) * this.rowHeight - this.scroll.clientHeight;
		this.scroll.scrollTop = Math.max(this.scroll.scrollTop, below);
	}

	// ---- the picture ----

	// Frames with their places: depth first, without recursion, for stacks may be deep.
	place(width) {
		const frames = [];
		const path = this.pathTo(this.top);
		path.forEach((node, depth) =>
			frames.push({node, x: 0, w: width, depth, above: depth < path.length - 1}),
		);
		const todo = [{node: this.top, x: 0, w: width, depth: path.length - 1}];
		while (todo.length) {
			const {node, x, w, depth} = todo.pop();
			let left = x;
			for (const child of node.children ?? []) {
				const cw = node.value ? (w * child.value) / node.value : 0;
				if (cw >= NARROWEST && depth < DEEPEST) {
					const f = {node: child, x: left, w: cw, depth: depth + 1};
					frames.push(f);
					todo.push(f);
				}
				left += cw;
			}
		}
		return frames;
	}

	pathTo(wanted) {
		const todo = [[this.root]];
		while (todo.length) {
			const path = todo.pop();
			const node = path[path.length - 1];
			if (node === wanted) return path;
			if (path.length < DEEPEST)
				for (const child of node.children ?? [])
					todo.push([...path, child]);
		}
		return [this.root];
	}

	draw() {
		const {canvas} = this;
		const ROW = (this.rowHeight = ROW_HEIGHT * uiScale());
		const width = this.scroll.clientWidth;
		const frames = this.root?.value ? this.place(width) : [];
		this.frames = frames;
		const deep = frames.reduce((d, f) => Math.max(d, f.depth + 1), 1);
		canvas.style.height = `${deep * ROW}px`;
		canvas.style.width = "100%";
		fitCanvas(canvas);
		const r = canvas.width / Math.max(1, width);
		const ctx = canvas.getContext("2d");
		ctx.setTransform(r, 0, 0, r, 0, 0);
		ctx.clearRect(0, 0, width, deep * ROW);
		this.fitter.use(ctx, `${11 * uiScale()}px ${FONT}`);
		ctx.textBaseline = "middle";
		for (const f of frames) this.frame(ctx, f, ROW);
		if (this.root)
			this.note.textContent = this.root.value
				? this.words(this.at ?? this.top)
				: "There are no calls or stacks in this.";
	}

	frame(ctx, {node, x, w, depth, above}, ROW) {
		const name = plain(node.name) || "all";
		const wanted = this.find.value && name.includes(this.find.value);
		ctx.globalAlpha = above ? 0.5 : 1;
		ctx.fillStyle = wanted ? page.hit : css[nameColour(name)];
		ctx.fillRect(x, depth * ROW, Math.max(0.5, w - 1), ROW - 1);
		ctx.fillStyle = page.ink;
		const text = w > 30 ? this.fitter.fit(name, w - 8) : "";
		if (text) ctx.fillText(text, x + 4, depth * ROW + ROW / 2);
		ctx.globalAlpha = 1;
		if (node === this.at && node !== this.top)
			this.outline(ctx, x, w, depth * ROW, ROW);
	}

	// Where the keyboard is.
	outline(ctx, x, w, y, h) {
		ctx.strokeStyle = page.text;
		ctx.lineWidth = 2;
		ctx.strokeRect(x + 1, y + 1, Math.max(1, w - 3), h - 3);
	}

	// Values are times, unless they are counts of samples.
	words(node) {
		const of = this.root.value
			? `, ${((100 * node.value) / this.root.value).toFixed(1)} %`
			: "";
		const value =
			this.root.unit === "samples"
				? `${grouped(node.value)} samples`
				: spanText(node.value);
		return `${plain(node.name) || "all"}: ${value}${of}`;
	}

	frameAt(event) {
		const depth = Math.floor(event.offsetY / this.rowHeight);
		return this.frames?.find(
			(f) =>
				f.depth === depth &&
				event.offsetX >= f.x &&
				event.offsetX < f.x + f.w,
		);
	}

	hover(event) {
		const f = this.frameAt(event);
		this.canvas.title = f ? this.words(f.node) : "";
	}

	click(event) {
		const f = this.frameAt(event);
		if (f) this.zoom(f.node);
	}
}
