// SPDX-License-Identifier: GPL-2.0-or-later
//
// The parts of the page and what can be done with it: mouse, keys and buttons all end up here.
import {byId} from "./dom.js";
import {Contact} from "./contact.js";
import {Trace} from "./trace.js";
import {State} from "./state.js";
import {Motion} from "./motion.js";
import {Tiles} from "./tiles.js";
import {buildLayout, hasProcesses, nextFold, withFold} from "./layout.js";
import {Picture} from "./picture.js";
import {Overview} from "./overview.js";
import {Pick} from "./pick.js";
import {Tip, Messages} from "./tip.js";
import {placeAt, sliceAt, tickAt} from "./hit.js";
import {Scrollbar} from "./scrollbar.js";
import {spanText, timeText} from "./time.js";

const CURSOR_STEPS = 60; // of the cursor, across the picture
const MOST_FOLDS = 300; // rows that are unfolded at once; all of them are in the address

export class App {
	constructor() {
		this.trace = new Trace();
		this.state = new State();
		this.motion = new Motion(this.state, this.trace);
		this.tiles = new Tiles(
			() => this.trace.generation,
			() => this.trace.progress === 1,
			() => this.tilesCame(),
		);
		this.contact = new Contact(this, () => this.answersAgain());
		this.messages = new Messages();
		this.layout = buildLayout(this.trace, this.state);
		this.picture = new Picture(this, byId("picture"), byId("overlay"));
		this.overview = new Overview(this, byId("overview"));
		this.pick = new Pick(this);
		this.tip = new Tip(this);
		this.bar = new Scrollbar(byId("rows"), (y) => this.scrollTo(y), "scroll rows");
		this.picked = this.chain = this.hover = this.mouse = this.drag = null;
		this.byKeyboard = false;
		this.dialogs = {}; // name -> function that opens it
		this.follow();
	}

	// What has to be drawn or computed again, when which part of the state changed.
	follow() {
		const {state} = this;
		state.on("t0 t1 y row", () => this.picture.redraw());
		state.on("a b area cursor", () => this.picture.redrawOverlay());
		state.on("t0 t1 a b", () => this.overview.redraw());
		state.on("hideRows pins moves folds byProcess sort", () => this.relayout());
		state.on("hideEvents", () => {
			this.picture.newRules();
			this.picture.redraw();
		});
	}

	relayout() {
		this.layout = buildLayout(this.trace, this.state);
		this.picture.redraw();
	}

	// Or did not.
	tilesCame() {
		this.contact.picture(this.tiles.error);
		this.picture.redraw();
	}

	// After a time without answers: what was asked for meanwhile is missing.
	answersAgain() {
		this.picture.redraw();
		this.list?.refresh();
	}

	// Each frame of the picture ends with this.
	afterFrame() {
		const {g} = this.picture;
		this.bar.set(g.y, g.room, this.layout.height);
	}

	// The number of an event's class.
	classOf(id) {
		const c = this.trace.events.get(id)?.class;
		return typeof c === "number" ? c : Math.max(0, this.trace.classes.indexOf(c));
	}

	say(text, bad) {
		this.messages.say(text, bad);
	}

	announce(text) {
		this.messages.announce(text);
	}

	showTip(x, y, tick, slice) {
		this.tip.show(x, y, tick, slice);
	}

	hideTip() {
		this.tip.hide();
	}

	open(name) {
		this.dialogs[name]?.();
	}

	focusPicture() {
		byId("overlay").focus();
	}

	// A saved view.
	use(text) {
		this.state.fromText(text);
		this.pick.restore();
	}

	// ---- moving ----

	scrollTo(y) {
		this.state.set({y: Math.round(Math.min(Math.max(0, y), this.picture.g.most ?? 0))});
	}

	scrollBy(pages) {
		this.scrollTo(this.picture.g.y + pages * this.picture.g.room);
	}

	panBy(widths) {
		const {t0, t1} = this.motion.range;
		this.motion.pan((t1 - t0) * widths);
	}

	// At the mouse when it is over the picture, or else in the middle.
	zoomHere(factor) {
		const {t0, t1} = this.motion.range;
		const x = this.mouse?.x ?? -1;
		this.motion.zoom(
			factor,
			x > this.picture.g.gutter ? this.picture.timeAt(x) : (t0 + t1) / 2,
		);
	}

	zoomToArea() {
		const {area, a, b} = this.state;
		if (area) this.motion.zoomTo(area.t0, area.t1, 0.02);
		else if (a !== null && b !== null)
			this.motion.zoomTo(Math.min(a, b), Math.max(a, b), 0.05);
		else this.say("Select an area first: Shift and drag, or drag on the ruler.");
	}

	// Brings a row into sight; with focus the keyboard goes there, too.
	showRow(key, focus = false) {
		const item = this.layout.byKey.get(key);
		if (!item) return;
		const {g} = this.picture;
		if (
			!this.layout.pinned.includes(item) &&
			(item.y < g.y || item.y + item.h > g.y + g.room)
		)
			this.scrollTo(item.y - (g.room - item.h) / 2);
		if (focus) {
			this.state.set({row: key});
			this.focusPicture();
		}
	}

	// The first of these rows, unless one of them is in sight.
	showAnyRow(keys) {
		const {picture} = this;
		const seen = new Set(
			[true, false].flatMap((pinned) =>
				picture.inSight(pinned).map(({item}) => item.key),
			),
		);
		if (!keys.some((key) => seen.has(key))) this.showRow(keys[0]);
	}

	showFile(path) {
		const file = this.trace.files.findIndex((f) => f.path === path);
		const row = this.trace.rows.find((r) => r && r.file === file);
		if (row) {
			this.motion.fit();
			this.showRow(row.key, true);
		}
	}

	// ---- selecting ----

	selectArea(from, to, rows) {
		const limit = (t) => Math.min(Math.max(0, t), Math.max(this.trace.duration, 1));
		const t0 = limit(Math.min(from, to)),
			t1 = limit(Math.max(from, to));
		this.state.set({area: t1 > t0 ? {t0, t1, rows} : null});
	}

	clear() {
		this.pick.clear();
		this.state.set({area: null});
		this.focusPicture(); // from wherever the keyboard was
		this.announce("Nothing is selected.");
	}

	// At the cursor of the keyboard, or at the mouse.
	mark(name) {
		const byMouse = this.mouse && this.mouse.x > this.picture.g.gutter;
		const t = byMouse ? this.picture.timeAt(this.mouse.x) : this.cursorTime();
		this.state.set({[name]: Math.max(0, t)});
		const {a, b} = this.state;
		const apart =
			a !== null && b !== null ? `, ${spanText(Math.abs(b - a))} apart` : "";
		this.announce(`Marker ${name.toUpperCase()} at ${timeText(t)}${apart}.`);
	}

	// ---- the keyboard's cursor ----

	cursorTime() {
		const {t0, t1} = this.motion.range;
		const t = this.state.cursor;
		return t === null || t < t0 || t > t1 ? (t0 + t1) / 2 : t;
	}

	items() {
		return [...this.layout.pinned, ...this.layout.items];
	}

	moveFocus(by) {
		const items = this.items();
		const at = items.findIndex((i) => i.key === this.state.row);
		const to = at < 0 ? 0 : Math.min(Math.max(0, at + by), items.length - 1);
		if (!items[to]) return;
		this.state.set({row: items[to].key, cursor: this.cursorTime()});
		this.showRow(items[to].key);
		this.announce(
			items[to].type === "group"
				? `group ${items[to].title}`
				: this.underCursor(),
		);
	}

	moveCursor(by, select) {
		const {t0, t1} = this.motion.goal;
		const from = this.cursorTime();
		const to = Math.max(0, from + (by * (t1 - t0)) / CURSOR_STEPS);
		this.state.set({cursor: to});
		this.motion.reveal(to);
		if (select) this.extendArea(from, to);
		this.announce(this.underCursor());
	}

	// The end of the area that the cursor is on follows it.
	extendArea(from, to) {
		const {area, row} = this.state;
		const rows = this.trace.byKey.has(row) ? [row] : [];
		if (!area) return this.selectArea(from, to, rows);
		const other =
			Math.abs(area.t0 - from) < Math.abs(area.t1 - from) ? area.t1 : area.t0;
		return this.selectArea(other, to, area.rows);
	}

	// One more row for the selected area: the next one, which the cursor goes to.
	extendRows(by) {
		const {area, row} = this.state;
		const rows = area?.rows ?? [];
		this.moveFocus(by);
		const added = [row, this.state.row].filter((key) => this.trace.byKey.has(key));
		if (!area) this.say("Select a time first: Shift and ← or →.");
		else if (rows.length)
			this.selectArea(area.t0, area.t1, [...new Set([...rows, ...added])]);
	}

	// The places of the cursor in its row, from the top lane to the last.
	cursorPlaces() {
		const item = this.layout.byKey.get(this.state.row);
		const t = this.cursorTime();
		if (!item?.lanes) return [];
		const x = this.picture.xOf(t);
		const y = this.picture.yOf(item.key);
		return item.lanes.map((l) => ({
			...placeAt(this.picture, x, y + l.y + l.h / 2),
			item,
			lane: l,
			t,
		}));
	}

	underCursor() {
		const item = this.layout.byKey.get(this.state.row);
		const words = [];
		for (const p of this.cursorPlaces()) {
			const slice = sliceAt(this.picture, p);
			const tick = tickAt(this.picture, p);
			if (slice) words.push(slice.text);
			if (tick)
				words.push(
					tick.id === undefined
						? `${tick.n} events`
						: this.trace.eventName(tick.id),
				);
		}
		return `${item?.title ?? "no row"}, ${timeText(this.cursorTime())}: ${words.join(", ") || "nothing"}`;
	}

	describeCursor() {
		const text = this.underCursor();
		this.say(text);
		this.announce(text);
	}

	// Selects the innermost slice at the cursor, or the event.
	atCursor() {
		const item = this.layout.byKey.get(this.state.row);
		if (!item) return this.moveFocus(1);
		if (item.type === "group") return this.fold(item);
		for (const p of this.cursorPlaces()) {
			const slice = sliceAt(this.picture, p);
			if (slice) return this.pick.slice(slice.row, slice.track.track, p.t);
			const tick = tickAt(this.picture, p);
			if (tick) return this.pick.tick(tick);
		}
		return this.say("There is nothing at the cursor.");
	}

	// ---- rows ----

	fold(item) {
		this.state.set({folds: withFold(this.state.folds, item.key, nextFold(item))});
	}

	foldFocus() {
		const item = this.layout.byKey.get(this.state.row);
		if (item) this.fold(item);
	}

	foldAll() {
		const rows = this.items().filter((i) => i.type === "row");
		const groups = this.state.folds.filter(([key]) => key.startsWith("g"));
		const to = rows.every((i) => i.fold === "0") ? "1" : "0";
		this.state.set({
			folds: [...groups, ...rows.slice(0, MOST_FOLDS).map((i) => [i.key, to])],
		});
	}

	pinRow(key) {
		if (!this.trace.byKey.has(key)) return;
		const {pins} = this.state;
		this.state.set({
			pins: pins.includes(key) ? pins.filter((k) => k !== key) : [...pins, key],
		});
	}

	hideRow(key) {
		if (!this.trace.byKey.has(key)) return;
		this.moveFocus(1);
		this.state.set({hideRows: [...this.state.hideRows, key]});
		this.say(`${this.trace.byKey.get(key).title} is hidden; v shows what is hidden.`);
	}

	hideEvent(id) {
		const {key} = this.trace.events.get(id) ?? {};
		if (!key) return;
		this.state.set({hideEvents: [...this.state.hideEvents, key]});
		this.say(`${this.trace.eventName(id)} is hidden; v shows what is hidden.`);
	}

	moveRow(key, before) {
		this.state.set({
			moves: [
				...this.state.moves.filter(([k]) => k !== key),
				[key, before],
			].slice(-100),
		});
	}

	moveFocused(by) {
		const rows = this.layout.items;
		const at = rows.findIndex((i) => i.key === this.state.row);
		if (at < 0 || rows[at].type !== "row" || rows[at + by]?.type !== "row") return;
		const before = by < 0 ? rows[at - 1] : rows[at + 2];
		this.moveRow(rows[at].key, before?.type === "row" ? before.key : "");
		this.showRow(this.state.row);
	}

	groupByProcess() {
		const byProcess = !this.state.byProcess;
		this.state.set({byProcess});
		if (byProcess && !hasProcesses(this.trace))
			this.say(
				"The trace does not tell which tasks are threads of one process: " +
					"record task:task_newtask, or stacks of programs, with it.",
			);
		else
			this.say(
				byProcess
					? "Tasks are grouped by process."
					: "Tasks are not grouped.",
			);
	}
}
