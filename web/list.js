// SPDX-License-Identifier: GPL-2.0-or-later
//
// The list of all events, or of a search's hits, to the last one of a trace of any length. Asked
// for in pages as they come into sight. What is selected here is selected in the picture, and the
// other way round; `follow` keeps the list where the picture is.
import {get} from "./api.js";
import {el, fill, later, grouped} from "./dom.js";
import {timeText} from "./time.js";
import {VList} from "./vlist.js";
import {css, classColour, nameColour} from "./colours.js";
import {plain} from "./trace.js";

const PAGE = 200;
const MOST_PAGES = 60;
const GROWN_MS = 1000;
const AGAIN_MS = 400; // until what was not final is asked for again, twice as long each time, …
const MOST_AGAIN = 8; // … and no more often than this
const COLUMNS = ["number", "time", "cpu", "task", "event", "text"];
const TITLES = ["#", "time", "CPU", "task", "event", "what"];

export class EventList {
	constructor(app, host) {
		this.app = app;
		this.pages = new Map(); // page -> rows, or null while it is asked for
		this.again = new Map(); // page -> how often it was asked for again
		this.search = undefined;
		this.wish = -1;
		this.asked = -Infinity;
		this.note = el("span", {class: "dim"});
		this.follow = el("input", {type: "checkbox", checked: true});
		this.only = el("input", {
			type: "checkbox",
			on: {change: () => app.state.set({onlyHits: this.only.checked})},
		});
		host.append(
			el(
				"div",
				{class: "bar"},
				this.note,
				el("label", {}, this.follow, " follow the picture"),
				el("label", {}, this.only, " hits only"),
			),
			el(
				"div",
				{class: "vrow head event-row", aria: {hidden: "true"}},
				...TITLES.map((t, i) => el("span", {class: COLUMNS[i]}, t)),
			),
		);
		this.list = new VList(host, {
			label: "events",
			show: (e, i) => this.show(e, i),
			choose: (i) => this.choose(i),
		});
		this.fetchSoon = later(() => this.fetch(), 30);
		this.followSoon = later(() => this.followView(), 150);
		app.state.on("t0 t1", () => this.followSoon());
		app.state.on("onlyHits clock", () => this.refresh());
		app.pick.onChange((p) => this.picked(p));
	}

	// Starts again: other events, another search, or a pane that was closed.
	refresh() {
		const {state, search} = this.app;
		this.only.checked = state.onlyHits;
		this.only.disabled = !search.active;
		this.search = state.onlyHits ? search.id : undefined;
		this.pages.clear();
		this.again.clear();
		this.fetchSoon();
		this.list.refresh();
		if (this.app.picked) this.picked(this.app.picked);
		else this.followSoon();
	}

	show(row, index) {
		if (!row.cells) {
			row.classList.add("event-row");
			row.cells = COLUMNS.map((c) => el("span", {class: c}));
			row.append(...row.cells);
		}
		const page = Math.floor(index / PAGE);
		const e = this.pages.get(page)?.[index % PAGE];
		row.classList.toggle("coming", !e);
		if (!e) {
			row.cells.forEach((c, i) => (c.textContent = i ? "" : grouped(index)));
			this.fetchSoon();
			return;
		}
		const texts = [
			grouped(e.n),
			timeText(e.ts),
			e.cpu,
			`${plain(e.comm)} ${e.pid}`,
			e.event,
			plain(e.text),
		];
		texts.forEach((t, i) => (row.cells[i].textContent = t));
		row.cells[3].style.setProperty("--dot", css[nameColour(e.comm || "")]);
		row.cells[4].style.setProperty("--dot", css[classColour(this.app.classOf(e.id))]);
		row.classList.toggle(
			"picked",
			this.app.picked?.kind === "event" && this.app.picked.n === e.n,
		);
	}

	async fetch() {
		const first = Math.floor(this.list.top / PAGE);
		const last = Math.floor((this.list.top + this.list.visible) / PAGE);
		for (let page = first; page <= last; page++)
			if (!this.pages.has(page)) await this.fetchPage(page);
	}

	async fetchPage(page) {
		const {search} = this;
		if (!this.pages.has(page)) this.pages.set(page, null);
		try {
			const answer = await get("events", {at: page * PAGE, n: PAGE, search});
			if (search !== this.search) return;
			this.take(page, answer);
		} catch (e) {
			this.pages.delete(page);
			this.note.textContent = e.message;
		}
	}

	take(page, {rows, total, settled, note}) {
		const missing = Math.min(PAGE, total - page * PAGE) > rows.length;
		const finished = this.app.trace.progress === 1;
		this.pages.set(page, missing && !rows.length ? null : rows);
		// What a finished index has and the file has not is gone, and does not come back.
		if ((missing && !rows.length && !finished) || settled === false)
			this.askAgain(page, finished);
		else this.again.delete(page);
		if (this.pages.size > MOST_PAGES) this.pages.delete(this.pages.keys().next().value);
		if (total !== this.list.total) this.list.setTotal(total);
		if (
			this.wish >= 0 &&
			this.wish === this.list.active &&
			Math.floor(this.wish / PAGE) === page
		)
			this.choose(this.wish);
		fill(
			this.note,
			note ??
				`${grouped(total)} ${this.search === undefined ? "events" : "hits"}` +
					(missing && finished ? "; some cannot be read" : ""),
		);
		this.list.refresh();
	}

	// While the server still indexes that costs little, and ends.
	askAgain(page, finished) {
		const times = finished ? (this.again.get(page) ?? 0) : 0;
		if (times >= MOST_AGAIN) return;
		this.again.set(page, times + 1);
		setTimeout(
			() => this.pages.has(page) && this.fetchPage(page),
			AGAIN_MS * 2 ** times,
		);
	}

	// There may be more events now. The page in sight is asked for again, and with it the total.
	grown(finished) {
		const now = performance.now();
		if (!finished && now - this.asked < GROWN_MS) return;
		this.asked = now;
		const first = Math.floor(this.list.top / PAGE);
		for (const [page, rows] of this.pages)
			if (page !== first && rows && rows.length < PAGE) this.pages.delete(page);
		if (this.list.body.clientHeight) this.fetchPage(first);
	}

	// One that is not there yet is chosen when it comes, if it is still the one.
	choose(index) {
		const e = this.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
		this.wish = e ? -1 : index;
		if (!e) return;
		this.own = true;
		this.app.pick.event(e.n, {reveal: true}).finally(() => (this.own = false));
	}

	// A slice is where its first record is.
	picked(p) {
		const n = p?.kind === "event" ? p.n : p?.slice?.event;
		if (n !== null && n !== undefined) this.reveal({n, ts: p.ts});
	}

	async reveal(p) {
		if (this.own || !this.list.body.clientHeight) return this.list.refresh();
		const index = this.search === undefined ? p.n : await this.hitIndex(p);
		return this.list.setActive(index);
	}

	// The number of a record among the hits: behind the last one before it.
	async hitIndex({n, ts}) {
		try {
			const before = await get("hit", {id: this.search, n, dir: -1});
			return before.hit + 1;
		} catch (e) {
			return e.status === 404 ? 0 : this.indexOf(ts);
		}
	}

	async indexOf(ts) {
		try {
			return (
				await get("ordinal", {
					ts: Math.round(Math.max(0, ts)),
					search: this.search,
				})
			).n;
		} catch {
			return this.list.top;
		}
	}

	// The picture moved: the first event in sight comes to the top, unless one is selected and
	// in sight.
	async followView() {
		const {app} = this;
		const p = app.picked;
		const {t0, t1} = app.motion.range;
		if (!this.follow.checked || !this.list.body.clientHeight || this.own) return;
		if (p && p.ts >= t0 && p.ts <= t1) return;
		this.list.scrollTo(await this.indexOf(t0));
	}
}
