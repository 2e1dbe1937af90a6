// SPDX-License-Identifier: GPL-2.0-or-later
//
// Times and spans as text. Times are nanoseconds since the first event, exact in a Number for 104
// days. Clocks that count something else are shown as plain numbers.
import {grouped} from "./dom.js";

const UNITS = [
	{name: "s", ns: 1e9},
	{name: "ms", ns: 1e6},
	{name: "µs", ns: 1e3},
	{name: "ns", ns: 1},
];

let nanoseconds = true;
let origin = 0n;
let clock = "relative";

export function setTimeBase(isNanoseconds, originText) {
	nanoseconds = isNanoseconds;
	origin = BigInt(originText || "0");
}

// "relative" to the first event, or as the "trace" clock says.
export function setClock(which) {
	clock = which;
}

export function unitOf(ns) {
	const abs = Math.abs(ns);
	return UNITS.find((u) => abs >= u.ns) || UNITS[UNITS.length - 1];
}

// A span with about four digits: 1.234 ms.
export function spanText(ns) {
	if (ns === null || ns === undefined || Number.isNaN(ns)) return "–";
	if (!nanoseconds) return grouped(ns);
	if (ns === 0) return "0 s";
	const u = unitOf(ns);
	const v = ns / u.ns;
	const digits = u.ns === 1 ? 0 : Math.abs(v) >= 100 ? 1 : Math.abs(v) >= 10 ? 2 : 3;
	return `${v.toFixed(digits)} ${u.name}`;
}

// A point in time in full: 12.345678901 s.
export function timeText(ns) {
	if (!nanoseconds)
		return String(clock === "trace" ? BigInt(Math.round(ns)) + origin : Math.round(ns));
	const total = BigInt(Math.round(ns)) + (clock === "trace" ? origin : 0n);
	const sign = total < 0n ? "-" : "";
	const abs = total < 0n ? -total : total;
	return `${sign}${abs / 1000000000n}.${String(abs % 1000000000n).padStart(9, "0")}`;
}

// A value of the trace's own clock (text or number) as a time of the page; NaN: it is none.
export function fromTraceClock(value) {
	try {
		return Number(BigInt(value) - origin);
	} catch {
		return NaN;
	}
}

// The distance of the lines of a ruler: 1, 2 or 5 times a power of ten, at least so many ns.
export function niceStep(atLeast) {
	const power = 10 ** Math.floor(Math.log10(Math.max(atLeast, 1)));
	for (const m of [1, 2, 5]) if (m * power >= atLeast * (1 - 1e-9)) return m * power;
	return 10 * power;
}

// The labels of a ruler: far in, the part that all lines share is said once, as a base.
export function rulerBase(t0, step) {
	const base = step * 1000;
	return t0 < base ? 0 : Math.floor(t0 / base) * base;
}

export function rulerText(t, step) {
	if (!nanoseconds) return grouped(t);
	if (t === 0) return "0";
	const u = unitOf(Math.max(Math.abs(t), step));
	const digits = Math.max(0, Math.ceil(Math.log10(u.ns / step) - 1e-9));
	return `${(t / u.ns).toFixed(digits)} ${u.name}`;
}

// What somebody typed: "1.5ms", "20 us", "3"; plain numbers are seconds. NaN: not understood.
export function parseTime(text) {
	const m = /^\s*([+-]?\d+(?:\.\d+)?)\s*(s|ms|us|µs|ns)?\s*$/.exec(text);
	if (!m) return NaN;
	const unit = {s: 1e9, ms: 1e6, us: 1e3, µs: 1e3, ns: 1}[m[2] || (nanoseconds ? "s" : "ns")];
	return Math.round(Number(m[1]) * unit);
}

export function bytesText(n) {
	const units = ["B", "kB", "MB", "GB", "TB"];
	let i = 0;
	for (; n >= 1000 && i < units.length - 1; i++) n /= 1000;
	return `${i && n < 100 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}
