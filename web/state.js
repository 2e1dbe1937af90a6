// SPDX-License-Identifier: GPL-2.0-or-later
//
// The state of the view, all of it: what is in here is in the URL, and a URL, a saved view or a
// file bring it back. Everything else on the page follows from it and from the trace.
//
// A field that has its default is not in the URL.

const ADDRESS_MS = 250; // between changes of the address

const text = {out: (v) => v, in: (s) => s};
const number = {out: (v) => String(Math.round(v)), in: (s) => finite(Number(s))};
const flag = {out: (v) => (v ? "1" : "0"), in: (s) => s === "1"};
const texts = {out: (v) => v.join(","), in: (s) => (s ? s.split(",") : [])};
const pairs = {
	out: (v) => v.map((p) => p.join(">")).join(","),
	in: (s) => (s ? s.split(",").map((p) => p.split(">")) : []),
};
// {t0, t1, rows: [keys]}; no rows: all of them.
const area = {
	out: (v) => [Math.round(v.t0), Math.round(v.t1), ...v.rows].join(","),
	in: (s) => {
		const [t0, t1, ...rows] = s.split(",");
		return {t0: finite(Number(t0)), t1: finite(Number(t1)), rows};
	},
};
// {row: key, kind, depth, ts}: numbers of tracks differ from session to session.
const slice = {
	out: (v) => [v.row, v.kind, v.depth, Math.round(v.ts)].join(","),
	in: (s) => {
		const [row, kind, depth, ts] = s.split(",");
		return {row, kind, depth: finite(Number(depth)), ts: finite(Number(ts))};
	},
};

function finite(n) {
	if (!Number.isFinite(n)) throw new Error("not a number");
	return n;
}

// name: [letter in the URL, default, how it is written]
const FIELDS = {
	t0: ["t0", null, number], // the time in sight; null: all of it
	t1: ["t1", null, number],
	y: ["y", 0, number], // pixels that are scrolled off
	a: ["a", null, number], // markers
	b: ["b", null, number],
	area: ["area", null, area],
	slice: ["slice", null, slice],
	event: ["event", null, number], // its number in the list
	row: ["row", null, text], // the one the keyboard is on
	cursor: ["at", null, number], // where the keyboard is in time
	filter: ["filter", "", text],
	byText: ["text", false, flag], // the filter is a piece of text
	onlyHits: ["hits", false, flag], // the list shows hits only
	hideEvents: ["noevents", [], texts], // system:name
	hideRows: ["norows", [], texts],
	pins: ["pins", [], texts],
	moves: ["moves", [], pairs], // [row, the one it stands before]
	folds: ["folds", [], pairs], // [row or group, "0" | "1" | "2"]
	byProcess: ["processes", false, flag],
	sort: ["sort", "busy", text],
	tab: ["tab", "events", text],
	pane: ["pane", -1, number], // height of the lower pane; 0: closed, -1: as high as usual
	clock: ["clock", "relative", text],
	query: ["sql", "", text],
};

export class State {
	constructor() {
		this.listeners = [];
		this.reset();
	}

	reset() {
		for (const [name, [, standard]] of Object.entries(FIELDS))
			this[name] = structuredClone(standard);
	}

	// f is called after any of these fields ("*": any at all) changed.
	on(names, f) {
		this.listeners.push({names: new Set(names.split(" ")), f});
	}

	set(values) {
		const changed = Object.keys(values).filter((k) => !same(this[k], values[k]));
		if (!changed.length) return;
		for (const name of changed) this[name] = values[name];
		for (const {names, f} of this.listeners)
			if (names.has("*") || changed.some((name) => names.has(name))) f(changed);
	}

	toText() {
		const parts = new URLSearchParams();
		for (const [name, [letter, standard, how]] of Object.entries(FIELDS))
			if (this[name] !== null && !same(this[name], standard))
				parts.set(letter, how.out(this[name]));
		// These are legal in a fragment, and addresses are easier to read with them.
		return parts
			.toString()
			.replace(/%2C/g, ",")
			.replace(/%3E/g, ">")
			.replace(/%3A/g, ":");
	}

	// What does not make sense is left out: a URL may be from anywhere.
	fromText(string) {
		const parts = new URLSearchParams(string);
		const values = {};
		for (const [name, [letter, standard, how]] of Object.entries(FIELDS)) {
			values[name] = structuredClone(standard);
			if (!parts.has(letter)) continue;
			try {
				values[name] = how.in(parts.get(letter));
			} catch {
				continue;
			}
		}
		if (values.t0 === null || values.t1 === null || !(values.t1 > values.t0))
			values.t0 = values.t1 = null;
		this.set(values);
	}
}

function same(a, b) {
	return (
		a === b ||
		(typeof a === "object" &&
			typeof b === "object" &&
			JSON.stringify(a) === JSON.stringify(b))
	);
}

// The fragment of the address follows the state; not every frame, browsers object to that.
export function keepInAddress(state) {
	let timer = 0,
		last = 0;
	let own = location.hash;
	const write = () => {
		timer = 0;
		last = performance.now();
		own = "#" + state.toText();
		history.replaceState(null, "", own);
	};
	const soon = () => {
		const wait = last + ADDRESS_MS - performance.now();
		timer ||= setTimeout(write, Math.max(0, wait));
	};
	state.on("*", soon);
	window.addEventListener("hashchange", () => {
		if (location.hash !== own) state.fromText(location.hash.slice(1));
	});
}
