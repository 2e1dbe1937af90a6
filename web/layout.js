// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which rows there are, in which order, and where: a list of items with y and height, and the lanes
// of each row. Computed when rows or the state change, not per frame; a frame takes the items in
// sight.
//
// item: {type: "group" | "row", key, title, y, h, row?, lanes?, fold}; lane: {kind, y, h, tracks}
// Pinned rows are a list of their own, that does not scroll.

const GROUP_H = 24;
const GAP = 3; // below each row
const MAIN = 20,
	NESTED = 14,
	TICKS = 6,
	COUNTER = 16,
	COUNTER_ALONE = 26;
const FEW_CPUS = 4,
	FEW_TASKS = 8; // so many rows are unfolded at first
const FEW_CALLS = 4; // depths that are shown before one asks for more
const FOLDED = "0",
	NORMAL = "1",
	FULL = "2";

const SORTS = {
	busy: (a, b) => b.busy - a.busy || b.events - a.events || a.number - b.number,
	events: (a, b) => b.events - a.events || a.number - b.number,
	name: (a, b) => a.label.localeCompare(b.label) || a.number - b.number,
	pid: (a, b) => a.number - b.number,
	first: (a, b) => (a.first ?? Infinity) - (b.first ?? Infinity) || a.number - b.number,
};
export const SORT_NAMES = {
	busy: "time running",
	events: "events",
	name: "name",
	pid: "pid",
	first: "first seen",
};

export function buildLayout(trace, state) {
	const l = {items: [], pinned: [], height: 0, pinnedHeight: 0, byKey: new Map()};
	const folds = foldRules(trace, state);
	const hidden = new Set(state.hideRows);
	const pins = new Set(state.pins);
	const rows = trace.rows.filter((r) => r && !hidden.has(r.key) && !pins.has(r.key));
	for (const key of state.pins)
		if (trace.byKey.has(key) && !hidden.has(key))
			l.pinned.push(rowItem(trace.byKey.get(key), folds));
	for (const section of sections(trace, rows, state)) addSection(l, section, folds, state);
	l.pinnedHeight = place(l.pinned);
	l.height = place(l.items);
	for (const item of [...l.items, ...l.pinned]) l.byKey.set(item.key, item);
	return l;
}

// What is folded: what somebody folded, and by default the rows, when there are many.
function foldRules(trace, state) {
	const own = new Map(state.folds);
	const count = (kind) => trace.rows.reduce((n, r) => n + (r?.kind === kind), 0);
	const usual = {
		cpu: count("cpu") <= FEW_CPUS ? NORMAL : FOLDED,
		task: count("task") <= FEW_TASKS ? NORMAL : FOLDED,
	};
	return {
		row: (row) => own.get(row.key) ?? usual[row.kind] ?? NORMAL,
		group: (key) => own.get(key) ?? NORMAL,
	};
}

// Counters and CPUs first, then tasks; buffers and files, when there are several, one after the
// other.
function sections(trace, rows, state) {
	const places = new Map();
	for (const r of rows) {
		const id = `${r.file}.${r.buffer}`;
		if (!places.has(id)) places.set(id, []);
		places.get(id).push(r);
	}
	const many = trace.buffers.length > 1 || trace.files.length > 1;
	const ids = [...places.keys()].sort((a, b) => a.localeCompare(b, "en", {numeric: true}));
	return ids.map((id) => {
		const here = places.get(id);
		const sort = Object.hasOwn(SORTS, state.sort) ? SORTS[state.sort] : SORTS.busy;
		const machine = here
			.filter((r) => r.kind !== "task")
			.sort((a, b) => kindOrder(a) - kindOrder(b) || a.number - b.number);
		return {
			key: "g" + id,
			title: many ? trace.bufferTitle(here[0]) : null,
			machine,
			tasks: here.filter((r) => r.kind === "task").sort(sort),
			sort,
		};
	});
}

function kindOrder(row) {
	return row.kind === "cpu" ? 0 : 1;
}

function addSection(l, s, folds, state) {
	l.depth = 0;
	if (s.title && addGroup(l, s.key, s.title, 0, folds)) return;
	l.depth = s.title ? 1 : 0;
	addRows(l, s.key + "c", "CPUs", s.machine, folds, state);
	const found = state.byProcess ? processes(s.tasks, s.sort) : [];
	for (const p of found) addRows(l, `${s.key}p${p.id}`, p.title, p.tasks, folds, state);
	const grouped = new Set(found.flatMap((p) => p.tasks));
	const rest = s.tasks.filter((t) => !grouped.has(t));
	addRows(l, s.key + "t", found.length ? "Other tasks" : "Tasks", rest, folds, state);
}

function addRows(l, key, title, rows, folds, state) {
	const count = rows.filter((r) => r.kind !== "counter").length;
	if (!rows.length || addGroup(l, key, title, count, folds)) return;
	for (const row of moved(rows, state.moves)) l.items.push(rowItem(row, folds));
}

// Adds the head of a group; true: it is folded, nothing of it is shown.
function addGroup(l, key, title, count, folds) {
	const fold = folds.group(key);
	l.items.push({type: "group", key, title, count, fold, depth: l.depth, h: GROUP_H});
	return fold === FOLDED;
}

// Processes of several threads, or of one that is not the first: what they have together decides
// on their order.
function processes(tasks, sort) {
	const found = new Map();
	for (const t of tasks) {
		const id = t.tgid ?? t.pid;
		if (!found.has(id)) found.set(id, newProcess(id, t));
		const p = found.get(id);
		p.tasks.push(t);
		p.busy += t.busy ?? 0;
		p.events += t.events ?? 0;
		p.first = Math.min(p.first, t.first ?? Infinity);
	}
	const shown = [...found.values()].filter((p) => p.tasks.some((t) => t.pid !== p.id));
	for (const p of shown) {
		p.label = p.name ?? p.tasks.find((t) => t.pid === p.id)?.label ?? "process";
		p.title = `${p.label} ${p.id}`;
	}
	return shown.sort(sort);
}

function newProcess(id, task) {
	const {process} = task;
	return {id, number: id, name: process, tasks: [], busy: 0, events: 0, first: Infinity};
}

// Whether any task is known to be a thread of another one.
export function hasProcesses(trace) {
	return trace.rows.some((r) => r?.kind === "task" && r.tgid >= 0 && r.tgid !== r.pid);
}

// Rows that somebody took and put before another one; "": at the end.
function moved(rows, moves) {
	const order = [...rows];
	for (const [key, before] of moves) {
		const from = order.findIndex((r) => r.key === key);
		if (from < 0) continue;
		const [row] = order.splice(from, 1);
		const to = order.findIndex((r) => r.key === before);
		order.splice(to < 0 ? (before ? from : order.length) : to, 0, row);
	}
	return order;
}

function rowItem(row, folds) {
	const fold = folds.row(row);
	const {lanes, h, more} = lanesOf(row, fold);
	return {type: "row", key: row.key, row, title: row.title, fold, lanes, h, more};
}

// A lane's tracks are drawn into the same place: a task either runs or is in some other state.
function lanesOf(row, fold) {
	const lanes = [];
	const of = (...kinds) => row.tracks.filter((t) => kinds.includes(t.kind));
	let y = 1;
	const add = (kind, h, tracks) => {
		if (tracks.length) (lanes.push({kind, y, h, tracks}), (y += h + 1));
	};
	add("main", MAIN, of("state", "running"));
	const nested = [...of("irq"), ...of("softirq"), ...of("syscall"), ...of("call")];
	const shown = fold !== FOLDED ? nested : lanes.length ? [] : nested.slice(0, 1);
	for (const t of shown)
		if (fold === FULL || t.kind !== "call" || t.depth < FEW_CALLS)
			add(t.kind, NESTED, [t]);
	add("ticks", lanes.length ? TICKS : MAIN, of("events"));
	if (fold !== FOLDED || !lanes.length)
		add("counter", lanes.length ? COUNTER : COUNTER_ALONE, of("counter"));
	const calls = nested.filter((t) => t.kind === "call" && t.depth >= FEW_CALLS);
	return {lanes, h: y + GAP, more: fold === NORMAL && calls.length > 0};
}

function place(items) {
	let y = 0;
	for (const item of items) {
		item.y = y;
		y += item.h;
	}
	return y;
}

// The first item that ends below y.
export function firstAt(items, y) {
	let low = 0,
		high = items.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (items[middle].y + items[middle].h > y) high = middle;
		else low = middle + 1;
	}
	return low;
}

export function nextFold(item) {
	if (item.type === "group") return item.fold === FOLDED ? NORMAL : FOLDED;
	return item.fold === FOLDED ? NORMAL : item.fold === NORMAL && item.more ? FULL : FOLDED;
}

export function withFold(folds, key, fold) {
	return [...folds.filter(([k]) => k !== key), [key, fold]];
}
