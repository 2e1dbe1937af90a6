// SPDX-License-Identifier: GPL-2.0-or-later
//
// Search over the whole trace, by the filter language of `spur report` or for a piece of text. The
// server looks; hits are marked as they come, on the strip and on the ruler.
import {get, post} from "./api.js";
import {byId, later, grouped} from "./dom.js";
import {levelFor, TILE_BINS} from "./tiles.js";
import {plain} from "./trace.js";

const POLL_MS = 200;

// What the server says about a search, in words.
function noteText({done, hits, kept, truncated, warning}) {
	const parts = [hits === 1 ? "1 hit" : `${grouped(hits)} hits`];
	if (done < 1) parts.push(`${Math.floor(done * 100)} % searched`);
	if (truncated) parts.push(`only the first ${grouped(kept)} can be shown`);
	return parts.join(", ") + (warning ? ` — ${plain(warning)}` : "");
}

export class Search {
	constructor(app) {
		this.app = app;
		this.id = undefined;
		this.field = byId("search");
		this.how = byId("search-how");
		this.note = byId("search-note");
		this.tiles = new Map(); // "level/tile" -> [[bin, n], …], or null while it is asked for
		this.older = new Map(); // those of a moment ago, shown until the new ones are there
		this.start = later(() => this.run(), 50);
		byId("search-form").addEventListener("submit", (e) => this.submit(e));
		byId("search-next").addEventListener("click", () => this.step(1));
		byId("search-prev").addEventListener("click", () => this.step(-1));
		this.field.addEventListener("keydown", (e) => this.key(e));
		app.state.on("filter byText", () => this.start());
	}

	get active() {
		return this.id !== undefined;
	}

	focus() {
		this.field.focus();
		this.field.select();
	}

	// Enter again, with the same words: the next hit.
	submit(event) {
		event.preventDefault();
		const {state} = this.app;
		const byText = this.how.value === "text";
		if (state.filter === this.field.value && state.byText === byText && this.active)
			return void this.step(event.submitter?.shiftKey ? -1 : 1);
		state.set({filter: this.field.value, byText});
	}

	key(event) {
		if (event.key !== "Escape") return;
		this.field.value = "";
		this.app.state.set({filter: ""});
		this.app.focusPicture();
	}

	async run() {
		const {state} = this.app;
		const mine = (this.turn = {});
		this.field.value = state.filter;
		this.how.value = state.byText ? "text" : "filter";
		this.forget();
		if (!state.filter) return;
		try {
			const body = state.byText
				? {filter: "", text: state.filter}
				: {filter: state.filter};
			const {id, error, at} = await post("search", body);
			if (error) throw Object.assign(new Error(error), {at});
			if (mine === this.turn) await this.follow(id, mine);
		} catch (e) {
			if (mine === this.turn) this.failed(e);
		}
	}

	forget() {
		const was = this.active;
		this.id = undefined;
		this.hits = 0;
		this.done = 0;
		this.tiles.clear();
		this.older.clear();
		this.note.textContent = "";
		this.note.title = "";
		this.note.classList.remove("error", "warning");
		this.field.removeAttribute("aria-invalid");
		if (was) this.changed();
	}

	failed(e) {
		this.note.textContent = e.message;
		this.note.classList.add("error");
		this.field.setAttribute("aria-invalid", "true");
		this.app.announce(e.message);
		if (Number.isInteger(e.at) && document.activeElement === this.field)
			this.field.setSelectionRange(e.at, this.field.value.length);
	}

	// Until the server has seen everything.
	async follow(id, mine) {
		this.id = id;
		for (;;) {
			const state = await get("search", {id});
			if (mine !== this.turn) return;
			this.done = state.done;
			this.hits = state.hits;
			this.note.textContent = noteText(state);
			this.note.title = this.note.textContent;
			this.note.classList.toggle("warning", Boolean(state.warning));
			this.older = this.tiles;
			this.tiles = new Map();
			this.changed();
			if (state.done >= 1) break;
			await new Promise((f) => setTimeout(f, POLL_MS));
		}
		this.app.announce(this.note.textContent);
	}

	changed() {
		this.app.picture.redrawOverlay();
		this.app.overview.redraw();
		this.app.list?.refresh();
	}

	// From the cursor, or from where the picture begins or ends.
	fromTime(by) {
		const {t0, t1} = this.app.motion.range;
		return this.app.state.cursor ?? (by > 0 ? t0 : t1);
	}

	async step(by) {
		const {app, id} = this;
		if (!this.active) return this.focus();
		// From the record that is selected by its number: several may have the same time.
		const from =
			app.picked?.kind === "event"
				? {n: app.picked.n}
				: {ts: Math.max(0, Math.round(this.fromTime(by)))};
		try {
			const {n} = await get("hit", {id, ...from, dir: by});
			if (n === null) return app.say("The trace is not read that far yet.");
			return await app.pick.event(n, {reveal: true});
		} catch (e) {
			const none =
				by > 0
					? "There is no hit after this."
					: "There is no hit before this.";
			return app.say(e.status === 404 ? none : e.message, e.status !== 404);
		}
	}

	// Times of hits in a range, at most one per pixel.
	inSight(t0, t1, perPixel) {
		return this.bins(t0, t1, perPixel).map(([t]) => t);
	}

	// [[time, hits], …]
	bins(t0, t1, perPixel) {
		if (!this.active || !this.hits) return [];
		const level = levelFor(perPixel);
		const width = 2 ** level,
			size = width * TILE_BINS;
		const found = [];
		for (let tile = Math.max(0, Math.floor(t0 / size)); tile * size < t1; tile++)
			for (const [bin, n] of this.tile(level, tile) ?? [])
				found.push([tile * size + (bin + 0.5) * width, n]);
		return found;
	}

	tile(level, tile) {
		const key = level + "/" + tile;
		if (!this.tiles.has(key)) {
			this.tiles.set(key, null);
			this.ask(key, level, tile, this.tiles);
		}
		return this.tiles.get(key) ?? this.older.get(key);
	}

	async ask(key, level, tile, tiles) {
		const {id} = this;
		try {
			tiles.set(key, await get("hits", {id, level, tile}));
			if (id !== this.id) return;
			this.app.picture.redrawOverlay();
			this.app.overview.redraw();
		} catch {
			tiles.delete(key);
		}
	}
}
