// SPDX-License-Identifier: GPL-2.0-or-later
//
// Colours, by number, in both themes: as text for the canvas and as pixels for strips.
//
// The fills are light enough for dark letters in both themes, and differ for colour-blind eyes in
// brightness as well as in hue (after P. Tol's "light" scheme). States of tasks differ in height
// and texture, too; see draw_states.js.

// What is drawn with small numbers lies below what has greater ones; see batch.js.
const STATE_COLOURS = {
	// light, dark
	runnable: ["#e8a33d", "#c98a2b"],
	preempted: ["#dd8350", "#cf7340"],
	sleeping: ["#c3c9d2", "#454d5a"],
	blocked: ["#cf86a3", "#c0718f"],
	stopped: ["#8a8f98", "#7a808b"],
	dead: ["#d9dce1", "#2d333c"],
	unknown: ["#d9dce1", "#2d333c"],
};
const FILLS = [
	"#77aadd",
	"#ee8866",
	"#44bb99",
	"#eedd88",
	"#99ddff",
	"#ffaabb",
	"#bbcc33",
	"#aaaa4d",
	"#b9a5dd",
	"#f4b183",
	"#8fd1c4",
	"#d5c7a9",
];
const VARIANTS = 2; // of each fill: as it is, and a little darker
const CLASS_COLOURS = [
	["#7d9cc9", "#6287b8"],
	["#cf8a5f", "#b9774c"],
	["#5aa88e", "#4b957c"],
	["#b5a24a", "#a39243"],
	["#a387cc", "#8c72b5"],
	["#cc7f9d", "#b56a88"],
	["#86a85a", "#76964d"],
	["#98a1ad", "#727d8b"],
];

const STATE_NAMES = Object.keys(STATE_COLOURS);

export const stateColour = Object.fromEntries(STATE_NAMES.map((name, i) => [name, i]));
const FIRST_FILL = STATE_NAMES.length;
const NR_FILLS = FILLS.length * VARIANTS;
const FIRST_CLASS = FIRST_FILL + NR_FILLS;
const FIRST_SOFT = FIRST_CLASS + CLASS_COLOURS.length;
export const NR_COLOURS = FIRST_SOFT + CLASS_COLOURS.length;

export const css = new Array(NR_COLOURS);
export const pixel = new Uint32Array(NR_COLOURS);

function channels(hex) {
	return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

function pixelOf([r, g, b]) {
	return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
}

function define(i, rgb) {
	css[i] = `rgb(${rgb})`;
	pixel[i] = pixelOf(rgb);
}

function scaled(rgb, by) {
	return rgb.map((c) => Math.round(c * by));
}

// Which of the colours of the page itself the canvases need; style.css has them.
const PAGE_COLOURS = [
	"bg",
	"panel",
	"row",
	"line",
	"text",
	"dim",
	"accent",
	"hit",
	"mark-a",
	"mark-b",
	"select",
	"ink",
	"chain",
];
export const page = {};

export const FONT = 'system-ui, "DejaVu Sans", sans-serif'; // of the canvases

export function useTheme(dark) {
	STATE_NAMES.forEach((name, i) => define(i, channels(STATE_COLOURS[name][dark ? 1 : 0])));
	FILLS.forEach((fill, i) => {
		const rgb = scaled(channels(fill), dark ? 0.86 : 1);
		define(FIRST_FILL + i, rgb);
		define(FIRST_FILL + FILLS.length + i, scaled(rgb, 0.86));
	});
	CLASS_COLOURS.forEach((c, i) => {
		const rgb = channels(c[dark ? 1 : 0]);
		define(FIRST_CLASS + i, rgb);
		define(
			FIRST_SOFT + i,
			rgb.map((v) => Math.round(v * 0.5 + (dark ? 22 : 251) * 0.5)),
		);
	});
	const style = getComputedStyle(document.documentElement);
	for (const name of PAGE_COLOURS) page[name] = style.getPropertyValue("--" + name).trim();
	page.dark = dark;
	const row = channels(page.row),
		line = channels(page.line);
	page.rowPixel = pixelOf(row);
	page.grid = row.map((c, i) => Math.round(c * 0.4 + line[i] * 0.6));
	page.gridPixel = pixelOf(page.grid);
	page.grid = `rgb(${page.grid})`;
}

// FNV-1a: names that differ little get different colours.
function hash(text) {
	let h = 0x811c9dc5;
	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
	return (h ^ (h >>> 15)) >>> 0;
}

const known = new Map(); // family -> fill

// Threads that differ in a number behind a sign only ("kworker/3:1") are of one family.
function family(name) {
	return name.replace(/[/:#_-]\d.*$/, "");
}

function usualFill(f) {
	return FIRST_FILL + (hash(f) % NR_FILLS);
}

// The fill of a name: always the same, unless spreadColours() gave it another.
export function nameColour(name) {
	const f = family(name);
	return known.get(f) ?? usualFill(f);
}

// Gives names of tasks, the most important first, fills of their own, as long as there are any.
export function spreadColours(names) {
	const taken = new Set();
	known.clear();
	for (const f of new Set(names.map(family))) {
		let c = usualFill(f);
		for (let i = 0; i < NR_FILLS && taken.has(c); i++)
			c = FIRST_FILL + ((c - FIRST_FILL + 5) % NR_FILLS); // 5 and 24 have no common divisor
		taken.add(c);
		known.set(f, c);
	}
}

export function classColour(number) {
	return FIRST_CLASS + (number % CLASS_COLOURS.length);
}

// The same, where there are so many that single ones do not matter.
export function softClassColour(number) {
	return FIRST_SOFT + (number % CLASS_COLOURS.length);
}
