// SPDX-License-Identifier: GPL-2.0-or-later
//
// Making elements. Names of tasks and the text of events come from hostile files: they enter the
// document as text nodes and attributes only, never as markup.

// el("button", {class: "x", on: {click: f}, aria: {label: "…"}, title: "…"}, "text", node, …)
export function el(tag, props = {}, ...children) {
	const e = document.createElement(tag);
	for (const [name, value] of Object.entries(props)) set(e, name, value);
	e.append(...children.filter(isThere));
	return e;
}

// So that a child can be left out: condition && el(…).
function isThere(child) {
	return child !== null && child !== undefined && child !== false && child !== "";
}

function set(e, name, value) {
	if (value === undefined || value === null || value === false) return;
	if (name === "on")
		for (const [event, f] of Object.entries(value)) e.addEventListener(event, f);
	else if (name === "aria")
		for (const [key, text] of Object.entries(value))
			e.setAttribute("aria-" + key, text);
	else if (name === "style") Object.assign(e.style, value);
	else if (name in e && name !== "list" && name !== "form") e[name] = value;
	else e.setAttribute(name === "class" ? "class" : name, value);
}

export function byId(id) {
	return document.getElementById(id);
}

export function fill(e, ...children) {
	e.replaceChildren(...children.filter(isThere));
	return e;
}

export function button(text, click, more = {}) {
	return el("button", {type: "button", on: {click}, ...more}, text);
}

// A number with thin spaces between groups of three digits: 12 345 678.
export function grouped(n) {
	return String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

// On screens with very many pixels everything is larger; style.css says from which width on.
export function uiScale() {
	return Number(getComputedStyle(document.documentElement).getPropertyValue("--ui")) || 1;
}

// Calls f once, `ms` after the last of many calls.
export function later(f, ms) {
	let timer = 0;
	return (...args) => {
		clearTimeout(timer);
		timer = setTimeout(() => f(...args), ms);
	};
}

// A canvas as large as its element in pixels of the screen. Returns true when it changed, which
// also clears it.
export function fitCanvas(canvas) {
	const ratio = window.devicePixelRatio || 1;
	const w = Math.max(1, Math.round(canvas.clientWidth * ratio));
	const h = Math.max(1, Math.round(canvas.clientHeight * ratio));
	if (canvas.width === w && canvas.height === h) return false;
	canvas.width = w;
	canvas.height = h;
	return true;
}

// A dialog of the document: opens it, or closes it when it is open.
export function toggleDialog(dialog) {
	if (dialog.open) dialog.close();
	else dialog.showModal();
}

export function download(name, text) {
	const url = URL.createObjectURL(new Blob([text], {type: "application/json"}));
	const a = el("a", {href: url, download: name});
	document.body.append(a);
	a.click();
	a.remove();
	setTimeout(() => URL.revokeObjectURL(url), 1000);
}
