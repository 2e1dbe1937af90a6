// SPDX-License-Identifier: GPL-2.0-or-later
//
// The lower part of the page: a pane per tab, as high as one drags it, and the details beside it.
import {byId, el, uiScale} from "./dom.js";

const TABS = {
	events: "Events",
	sum: "Selection",
	hist: "Histogram",
	flame: "Flame graph",
	sql: "SQL",
};
const LOWEST = 90,
	USUAL = -1;

function usualHeight() {
	return Math.min(340 * uiScale(), Math.max(170, Math.round(window.innerHeight * 0.29)));
}

export class Panes {
	constructor(app) {
		this.app = app;
		this.panes = {}; // what fills them; each has refresh()
		this.bar = byId("tabs");
		this.area = byId("lower");
		this.tabs = {};
		for (const [name, title] of Object.entries(TABS)) {
			const tab = el(
				"button",
				{
					type: "button",
					role: "tab",
					id: "tab-" + name,
					class: "tab",
					on: {
						click: () => this.choose(name),
						keydown: (e) => this.key(e, name),
					},
					aria: {controls: "pane-" + name},
				},
				title,
			);
			this.tabs[name] = tab;
			this.bar.append(tab);
		}
		byId("close-pane").addEventListener("click", () => this.toggle());
		this.splitter();
		app.state.on("tab pane", () => this.apply());
	}

	host(name) {
		return byId("pane-" + name);
	}

	isOpen(name) {
		return this.app.state.pane !== 0 && this.app.state.tab === name;
	}

	// A click on the tab in front closes the pane.
	choose(name) {
		if (this.isOpen(name)) this.toggle();
		else this.show(name);
	}

	show(name) {
		this.app.state.set({tab: name, pane: this.app.state.pane || USUAL});
		this.panes[name]?.focus?.();
	}

	toggle() {
		this.app.state.set({pane: this.app.state.pane ? 0 : USUAL});
	}

	key(event, name) {
		const names = Object.keys(TABS);
		const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
		if (!by) return;
		event.preventDefault();
		event.stopPropagation();
		const next = names[(names.indexOf(name) + by + names.length) % names.length];
		this.show(next);
		this.tabs[next].focus();
	}

	apply() {
		const {tab, pane} = this.app.state;
		const wanted = pane < 0 ? usualHeight() : pane;
		const height = Math.min(wanted, Math.max(LOWEST, window.innerHeight - 320));
		this.area.style.height = pane ? `${height}px` : "";
		this.area.classList.toggle("closed", !pane);
		for (const name of Object.keys(TABS)) {
			const front = name === tab && pane !== 0;
			this.tabs[name].setAttribute("aria-selected", front);
			this.tabs[name].tabIndex = name === tab ? 0 : -1;
			this.host(name).hidden = !front;
		}
		if (this.shown !== tab + Boolean(pane)) this.panes[tab]?.refresh?.();
		this.shown = tab + Boolean(pane);
	}

	splitter() {
		const bar = byId("splitter");
		let from = null;
		bar.addEventListener("pointerdown", (e) => {
			bar.setPointerCapture(e.pointerId);
			from = {y: e.clientY, height: this.area.offsetHeight};
		});
		bar.addEventListener("pointermove", (e) => {
			if (from) this.resize(from.height + from.y - e.clientY);
		});
		for (const end of ["pointerup", "pointercancel"])
			bar.addEventListener(end, () => (from = null));
		bar.addEventListener("keydown", (e) => {
			const by = {ArrowUp: 24, ArrowDown: -24}[e.key];
			if (by) {
				e.preventDefault();
				e.stopPropagation();
				this.resize(this.area.offsetHeight + by);
			}
		});
	}

	resize(height) {
		this.app.state.set({
			pane: height < LOWEST / 2 ? 0 : Math.max(LOWEST, Math.round(height)),
		});
	}
}
