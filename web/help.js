// SPDX-License-Identifier: GPL-2.0-or-later
//
// The overlay that lists keys, what the mouse does, and what colours and shapes mean.
import {byId, el, fill} from "./dom.js";
import {KEYS} from "./keys.js";
import {css, classColour, stateColour} from "./colours.js";

const MOUSE = [
	["wheel", "zoom; over the names: scroll"],
	["Shift+wheel", "to the left and right"],
	["drag", "move the picture"],
	["Shift+drag", "select an area"],
	["drag on the ruler", "select a time of all rows"],
	["click on the ruler", "marker A; with Shift: marker B"],
	["drag a name", "put the row elsewhere"],
	["double click", "zoom to a slice"],
];

// What keys do in a list or a graph that has the focus; Tab goes from one to the next.
const ELSEWHERE = [
	["Tab", "to the next part of the page"],
	["↑ ↓ Enter", "in lists: go there, choose"],
	["Shift+Enter", "in Show: go to the row"],
	["↑ ↓ ← →", "in the flame graph: callers, callees, beside"],
	["Enter", "in the flame graph: into it; Backspace: back"],
];

const STATES = [
	["runnable", "waits for a CPU after it was woken"],
	["preempted", "waits for a CPU that was taken away"],
	["blocked", "waits and cannot be disturbed, often for a disk"],
	["sleeping", "waits for something to happen"],
	["stopped", "was stopped or is traced"],
	["unknown", "what it did is not in the trace; of a CPU, too"],
];

const PRINTED = {ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc"};

function keyText(key) {
	return (
		key
			.split("+")
			.map((part) => PRINTED[part] ?? part)
			.join("+") || "+"
	);
}

function groups() {
	const found = [];
	for (const k of KEYS) {
		if (k.group) found.push({title: k.group, rows: []});
		else found[found.length - 1].rows.push([keyText(k.key), k.says]);
	}
	return found;
}

function section(title, rows) {
	return el(
		"section",
		{},
		el("h3", {}, title),
		el(
			"dl",
			{class: "keys"},
			...rows.flatMap(([key, says]) => [
				el("dt", {}, el("kbd", {}, key)),
				el("dd", {}, says),
			]),
		),
	);
}

function swatch(colour, shape) {
	return el("i", {class: "swatch " + shape, style: {background: css[colour]}});
}

function legend(trace) {
	const states = STATES.map(([name, says]) =>
		el("li", {}, swatch(stateColour[name], name), el("b", {}, name), " " + says),
	);
	const classes = trace.classes.map((name, i) =>
		el("li", {}, swatch(classColour(i), "tick"), name),
	);
	return el(
		"section",
		{class: "legend"},
		el("h3", {}, "What one sees"),
		el(
			"ul",
			{},
			el(
				"li",
				{},
				swatch(stateColour.runnable + 12, "running"),
				el("b", {}, "running"),
				" full height, coloured by task",
			),
			...states,
			el(
				"li",
				{},
				el("i", {class: "swatch lost"}),
				el("b", {}, "hatched"),
				" events were lost",
			),
		),
		classes.length ? el("h3", {}, "Ticks, by class of event") : null,
		classes.length ? el("ul", {class: "columns"}, ...classes) : null,
	);
}

export function openHelp(app) {
	fill(
		byId("help-body"),
		...groups().map((g) => section(g.title, g.rows)),
		section("Lists and graphs", ELSEWHERE),
		section("Mouse", MOUSE),
		legend(app.trace),
	);
	byId("help").showModal();
}
