// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a frame fills, collected first and drawn at the end.
//
// A canvas without a GPU fills some thousand rectangles in the time of a frame, if those of a
// colour follow each other. So rectangles are kept by colour, and a lane with many columns becomes
// a strip: pixels that are written here, eight high, and stretched into the lane by one call. What
// a frame costs then depends on the number of lanes, not on what is in them.
//
// Strips are drawn first, rectangles of small colour numbers next, then text.
import {css, pixel, page, NR_COLOURS} from "./colours.js";
import {EIGHTHS} from "./columns.js";

const MANY = 120; // columns in a lane from which on it is drawn as a strip
const MOST_TEXTS = 700;
const GAP_FROM = 4; // slices as wide as this are told from the next by a line between

export class Batch {
	constructor() {
		this.rects = Array.from({length: NR_COLOURS}, () => ({
			n: 0,
			at: new Float64Array(256),
		}));
		this.texts = [];
		this.strips = [];
		this.used = 0; // strips in this frame
		this.image = null;
		this.canvas = document.createElement("canvas");
		this.pen = this.canvas.getContext("2d", {alpha: false}); // stretching is faster without
		this.counts = {rects: 0, strips: 0, texts: 0};
	}

	// A frame of this size (in pixels) begins. grid: where its lines are; strips lie on top of
	// them.
	begin(width, lanes, ratio, grid) {
		const rows = Math.max(8, lanes) * EIGHTHS;
		if (!this.image || this.image.width !== width || this.image.height < rows) {
			this.canvas.width = width;
			this.canvas.height = Math.ceil((rows * 1.25) / EIGHTHS) * EIGHTHS;
			this.image = this.pen.createImageData(width, this.canvas.height);
			this.pixels = new Uint32Array(this.image.data.buffer);
		}
		this.width = width;
		this.ratio = ratio;
		this.grid = grid;
		this.used = 0;
		this.strips.length = 0;
		this.texts.length = 0;
		for (const r of this.rects) r.n = 0;
	}

	rect(colour, x, y, w, h) {
		const r = this.rects[colour];
		if (r.n + 4 > r.at.length) {
			const larger = new Float64Array(r.at.length * 2);
			larger.set(r.at);
			r.at = larger;
		}
		r.at[r.n] = x;
		r.at[r.n + 1] = y;
		r.at[r.n + 2] = w;
		r.at[r.n + 3] = h;
		r.n += 4;
	}

	text(string, x, y, width, style) {
		this.texts.push({string, x, y, width, style});
	}

	// Columns in a lane. colour(value): which; tall(value): in eighths of the lane, 0 is left
	// out. `lane`, from newLane(), lets several tracks share a strip.
	columns(lane, cols, colour, tall) {
		if (lane.strip < 0 && cols.n + lane.columns < MANY)
			this.asRects(lane, cols, colour, tall);
		else this.asStrip(lane, cols, colour, tall);
		lane.columns += cols.n;
	}

	newLane(y, h) {
		return {y, h, strip: -1, columns: 0};
	}

	asRects(lane, cols, colour, tall) {
		for (let i = 0; i < cols.n; i++) {
			const x = cols.x0[i];
			let w = cols.x1[i] - x;
			if (w >= GAP_FROM * this.ratio && cols.isWide(i)) w -= this.ratio;
			const value = cols.value[i];
			const high = tall ? tall(value) : EIGHTHS;
			if (!high) continue;
			const h = Math.max(
				1,
				Math.round((((lane.h * high) / EIGHTHS) * cols.cover[i]) / EIGHTHS),
			);
			this.rect(colour(value), x, lane.y + lane.h - h, w, h);
		}
	}

	asStrip(lane, cols, colour, tall) {
		if (lane.strip < 0) {
			lane.strip = this.used++;
			this.strips.push(lane);
			this.clean(lane.strip);
		}
		const gap = Math.round(this.ratio);
		const wide = GAP_FROM * this.ratio;
		const {pixels, width} = this;
		const {x0, x1, cover} = cols;
		const bottom = ((lane.strip + 1) * EIGHTHS - 1) * width;
		for (let i = 0; i < cols.n; i++) {
			const value = cols.value[i];
			const high = tall
				? Math.ceil((tall(value) * cover[i]) / EIGHTHS)
				: cover[i];
			const from = Math.max(0, x0[i]);
			let to = x1[i];
			if (to - from >= wide && cols.isWide(i)) to -= gap;
			to = Math.min(width, to);
			const rgba = pixel[colour(value)];
			const top = bottom - high * width;
			if (to - from === 1)
				for (let at = bottom; at > top; at -= width)
					pixels[at + from] = rgba;
			else if (to > from)
				for (let at = bottom; at > top; at -= width)
					pixels.fill(rgba, at + from, at + to);
		}
	}

	// A strip looks like the row behind it.
	clean(strip) {
		const at = strip * EIGHTHS * this.width;
		const to = at + EIGHTHS * this.width;
		this.pixels.fill(page.rowPixel, at, to);
		for (const x of this.grid)
			for (let i = at + x; i < to; i += this.width)
				this.pixels[i] = page.gridPixel;
	}

	draw(ctx, left) {
		this.drawStrips(ctx, left);
		this.drawRects(ctx, left);
		this.counts = {rects: this.nrRects, strips: this.used, texts: this.texts.length};
	}

	drawStrips(ctx, left) {
		if (!this.used) return;
		this.pen.putImageData(this.image, 0, 0, 0, 0, this.width, this.used * EIGHTHS);
		ctx.imageSmoothingEnabled = false;
		for (const {strip, y, h} of this.strips)
			ctx.drawImage(
				this.canvas,
				0,
				strip * EIGHTHS,
				this.width,
				EIGHTHS,
				left,
				y,
				this.width,
				h,
			);
	}

	drawRects(ctx, left) {
		this.nrRects = 0;
		for (let c = 0; c < NR_COLOURS; c++) {
			const r = this.rects[c];
			if (!r.n) continue;
			ctx.fillStyle = css[c];
			for (let i = 0; i < r.n; i += 4)
				ctx.fillRect(left + r.at[i], r.at[i + 1], r.at[i + 2], r.at[i + 3]);
			this.nrRects += r.n / 4;
		}
	}

	// The widest first, when there are too many.
	drawTexts(ctx, left, fit) {
		let texts = this.texts;
		if (texts.length > MOST_TEXTS)
			texts = texts.sort((a, b) => b.width - a.width).slice(0, MOST_TEXTS);
		ctx.textBaseline = "middle";
		ctx.textAlign = "left";
		ctx.fillStyle = page.ink;
		for (const t of texts) {
			const s = fit(t.string, t.width);
			if (s) ctx.fillText(s, left + t.x, t.y);
		}
	}
}

// Cuts texts to a width, with the widths of what was measured before.
export class TextFitter {
	constructor() {
		this.widths = new Map();
		this.font = "";
	}

	use(ctx, font) {
		ctx.font = font;
		this.ctx = ctx;
		if (font !== this.font) {
			this.font = font;
			this.widths.clear();
		}
	}

	width(text) {
		let w = this.widths.get(text);
		if (w === undefined) {
			if (this.widths.size > 20000) this.widths.clear();
			w = this.ctx.measureText(text).width;
			this.widths.set(text, w);
		}
		return w;
	}

	// "": nothing useful fits.
	fit(text, room) {
		const w = this.width(text);
		if (w <= room) return text;
		const n = Math.floor((text.length * room) / w) - 1;
		return n >= 2 ? text.slice(0, n) + "…" : "";
	}
}
