// SPDX-License-Identifier: GPL-2.0-or-later
//
// The mouse in the picture.
//
//	wheel            zoom at the mouse; over the names: scroll       shift+wheel, sideways: pan
//	drag             pan, both ways                                  shift+drag: select an area
//	drag the ruler   select a time of all rows                       click it: marker A, shift: B
//	drag a name      put the row elsewhere                           drag a marker: move it
//	click            select a slice or a record                      double click: zoom to it
import {byId} from "./dom.js";
import {placeAt, sliceAt, tickAt} from "./hit.js";
import {CARET, ICON} from "./draw_gutter.js";

const CLICK = 4; // pixels that the mouse may move in a click
const MARKER_NEAR = 7;
const ZOOM_PER_NOTCH = 0.0018;

export class Input {
	constructor(app) {
		this.app = app;
		this.picture = app.picture;
		const e = app.picture.overlay;
		const on = (name, f, options) => e.addEventListener(name, f.bind(this), options);
		on("wheel", this.wheel, {passive: false});
		on("pointerdown", this.down);
		on("pointermove", this.move);
		on("pointerup", this.up);
		on("pointercancel", this.cancel);
		on("pointerleave", this.leave);
		on("dblclick", this.double);
	}

	place(event) {
		const box = this.picture.overlay.getBoundingClientRect();
		const {zoom} = this.picture.g;
		return placeAt(
			this.picture,
			(event.clientX - box.left) / zoom,
			(event.clientY - box.top) / zoom,
		);
	}

	wheel(event) {
		event.preventDefault();
		const {app, picture} = this;
		const p = this.place(event);
		const unit = event.deltaMode === 1 ? 30 : event.deltaMode === 2 ? 300 : 1;
		const dx = event.deltaX * unit,
			dy = event.deltaY * unit;
		app.byKeyboard = false;
		if (p.zone === "gutter" || event.altKey) app.scrollTo(picture.g.y + dy);
		else if (event.shiftKey || Math.abs(dx) > Math.abs(dy))
			app.motion.pan((event.shiftKey ? dx || dy : dx) * picture.g.perPixel);
		else
			app.motion.zoom(
				Math.exp(Math.max(-400, Math.min(400, dy)) * ZOOM_PER_NOTCH),
				p.t,
			);
	}

	down(event) {
		if (event.button > 1) return;
		const p = this.place(event);
		const {app} = this;
		app.byKeyboard = false;
		this.picture.overlay.setPointerCapture(event.pointerId);
		this.from = {
			...p,
			clientX: event.clientX,
			clientY: event.clientY,
			view: app.motion.range,
			scroll: this.picture.g.y,
			shift: event.shiftKey,
		};
		this.mode = this.modeFor(p, event);
		app.hideTip();
	}

	modeFor(p, event) {
		const marker = p.zone === "gutter" ? null : this.markerAt(p.x, p.y);
		if (marker)
			return {
				drag: (q) => this.app.state.set({[marker]: Math.max(0, q.t)}),
				click: () => {},
			};
		if (p.zone === "ruler")
			return {drag: (q) => this.selectTime(q), click: () => this.mark(p, event)};
		if (p.zone === "gutter")
			return {
				drag: (q) => this.dragRow(q),
				click: () => this.clickName(p),
				drop: (q) => this.dropRow(q),
			};
		if (event.shiftKey)
			return {drag: (q) => this.selectArea(q), click: () => this.addRow(p)};
		return {drag: (q, e) => this.dragView(e), click: () => this.click(p)};
	}

	move(event) {
		const p = this.place(event);
		const {app} = this;
		app.mouse = {x: p.x, y: p.y};
		this.moveHairline(p);
		if (this.from) {
			const far = Math.hypot(
				event.clientX - this.from.clientX,
				event.clientY - this.from.clientY,
			);
			if (far > CLICK || this.dragging) {
				this.dragging = true;
				this.mode.drag(p, event);
			}
		} else {
			this.hover(p, event);
		}
		if (this.from) this.picture.redrawOverlay();
	}

	moveHairline(p) {
		const line = byId("hairline");
		line.hidden = p.zone === "gutter";
		line.style.transform = `translateX(${Math.round(p.x * this.picture.g.zoom)}px)`;
	}

	up(event) {
		if (!this.from) return;
		const {mode, dragging} = this;
		const p = this.place(event);
		this.from = this.mode = null;
		this.dragging = false;
		if (!dragging) mode.click();
		else mode.drop?.(p);
		this.app.drag = null;
		this.app.state.area && dragging && this.app.areaDone?.();
		this.picture.redraw();
	}

	cancel() {
		this.from = this.mode = this.app.drag = null;
		this.dragging = false;
	}

	leave() {
		if (this.from) return;
		this.app.mouse = null;
		byId("hairline").hidden = true;
		this.app.hideTip();
		this.setHover(null);
	}

	// ---- what is under the mouse ----

	hover(p, event) {
		this.setHover(p);
		const tick = p.zone === "rows" && tickAt(this.picture, p);
		const slice = p.zone === "rows" && !tick && sliceAt(this.picture, p);
		this.picture.overlay.style.cursor = this.cursorFor(p, tick || slice);
		if (tick || slice) this.app.showTip(event.clientX, event.clientY, tick, slice);
		else this.app.hideTip();
	}

	cursorFor(p, thing) {
		if (p.zone === "ruler") return this.markerAt(p.x, p.y) ? "ew-resize" : "crosshair";
		return thing || p.zone === "gutter" ? "pointer" : "default";
	}

	setHover(p) {
		const before = this.app.hover;
		this.app.hover = p && p.zone === "gutter" ? p : null;
		if (before?.item !== this.app.hover?.item) this.picture.redraw();
	}

	markerAt(x, y) {
		if (y > this.picture.g.ruler) return null;
		const near = (t) => t !== null && Math.abs(this.picture.xOf(t) - x) < MARKER_NEAR;
		return near(this.app.state.a) ? "a" : near(this.app.state.b) ? "b" : null;
	}

	// ---- what is done ----

	dragView(event) {
		const {from, app, picture} = this;
		const {zoom, perPixel} = picture.g;
		const dt = ((from.clientX - event.clientX) / zoom) * perPixel;
		app.motion.show(from.view.t0 + dt, from.view.t1 + dt);
		app.scrollTo(from.scroll + (from.clientY - event.clientY) / zoom);
		picture.overlay.style.cursor = "grabbing";
	}

	selectTime(q) {
		this.app.selectArea(this.from.t, q.t, []);
	}

	selectArea(q) {
		const {app, picture} = this;
		const [top, bottom] = [Math.min(this.from.y, q.y), Math.max(this.from.y, q.y)];
		const rows = [true, false]
			.flatMap((pinned) => picture.inSight(pinned))
			.filter(
				({item, y}) =>
					item.type === "row" && y < bottom && y + item.h > top,
			)
			.map(({item}) => item.key);
		app.selectArea(this.from.t, q.t, rows);
	}

	// Another row for the selected area, or one less.
	addRow(p) {
		const {area} = this.app.state;
		if (!area || p.item?.type !== "row") return;
		const rows = area.rows.includes(p.item.key)
			? area.rows.filter((k) => k !== p.item.key)
			: [...area.rows, p.item.key];
		this.app.selectArea(area.t0, area.t1, rows);
	}

	mark(p, event) {
		this.app.state.set({[event.shiftKey ? "b" : "a"]: Math.max(0, p.t)});
	}

	click(p) {
		const {app, picture} = this;
		const tick = tickAt(picture, p);
		const slice = !tick && sliceAt(picture, p);
		if (p.item) app.state.set({row: p.item.key, cursor: p.t});
		if (tick) return app.pick.tick(tick);
		if (slice)
			return app.pick.slice(
				slice.row,
				slice.track.track,
				slice.crowd ? p.t : slice.start + slice.duration / 2,
			);
		return app.pick.clear();
	}

	double(event) {
		const p = this.place(event);
		if (p.zone === "ruler" || p.zone === "gutter") return;
		const slice = sliceAt(this.picture, p);
		if (slice) this.app.motion.zoomTo(slice.start, slice.start + slice.duration, 0.3);
	}

	clickName(p) {
		const {app, picture} = this;
		if (!p.item) return;
		app.state.set({row: p.item.key});
		const right = picture.g.gutter - p.x;
		if (p.item.type === "group" || p.x < CARET) app.fold(p.item);
		else if (right < ICON) app.hideRow(p.item.key);
		else if (right < 2 * ICON) app.pinRow(p.item.key);
	}

	dragRow(q) {
		if (this.from.item?.type === "row")
			this.app.drag = {row: this.from.item.key, over: q.item};
	}

	dropRow(q) {
		const row = this.app.drag?.row;
		if (row && q.item?.type === "row" && q.item.key !== row)
			this.app.moveRow(row, q.item.key);
	}
}
