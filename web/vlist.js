// SPDX-License-Identifier: GPL-2.0-or-later
//
// A list of any length, of which only the rows in sight are elements. `top` is the number of the
// first row in sight, with a fraction.
import {el, uiScale} from "./dom.js";
import {Scrollbar} from "./scrollbar.js";

export class VList {
	// options: height (of a row), label, show(element, index), choose(index), moved?()
	constructor(host, options) {
		Object.assign(this, {height: 22, moved: () => {}, choose: () => {}}, options);
		this.rowHeight = this.height * uiScale();
		this.total = 0;
		this.top = 0;
		this.active = -1;
		this.pool = [];
		this.body = el("div", {
			class: "vlist-body",
			tabIndex: 0,
			role: "listbox",
			aria: {label: this.label},
		});
		this.host = el("div", {class: "vlist"}, this.body);
		host.append(this.host);
		this.bar = new Scrollbar(
			this.host,
			(first) => this.scrollTo(first),
			"scroll " + this.label,
		);
		this.body.addEventListener("wheel", (e) => this.wheel(e), {passive: false});
		this.body.addEventListener("click", (e) => this.click(e));
		this.body.addEventListener("keydown", (e) => this.key(e));
		new ResizeObserver(() => this.refresh()).observe(this.body);
	}

	get visible() {
		return this.body.clientHeight / this.rowHeight;
	}

	setTotal(total) {
		this.total = total;
		this.active = Math.min(this.active, total - 1);
		this.scrollTo(this.top);
	}

	scrollTo(first) {
		this.top = Math.min(Math.max(0, first), Math.max(0, this.total - this.visible));
		this.refresh();
	}

	// Brings a row into sight, in the middle unless it is there already.
	reveal(index) {
		if (index < this.top || index > this.top + this.visible - 1)
			this.scrollTo(index - Math.floor(this.visible / 2));
	}

	setActive(index, reveal = true) {
		this.active = index;
		if (reveal) this.reveal(index);
		this.refresh();
	}

	refresh() {
		if (this.scheduled) return;
		this.scheduled = true;
		requestAnimationFrame(() => {
			this.scheduled = false;
			this.draw();
		});
	}

	draw() {
		this.rowHeight = this.height * uiScale();
		if (!this.body.clientHeight) return;
		const first = Math.floor(this.top);
		const n = Math.max(0, Math.min(Math.ceil(this.visible) + 1, this.total - first));
		while (this.pool.length < n) {
			const row = el("div", {class: "vrow", role: "option"});
			this.pool.push(row);
			this.body.append(row);
		}
		this.pool.forEach((row, i) => {
			row.hidden = i >= n;
			if (i < n) this.drawRow(row, first + i);
		});
		this.bar.set(this.top, this.visible, this.total);
		this.moved();
	}

	drawRow(row, index) {
		row.style.transform = `translateY(${(index - this.top) * this.rowHeight}px)`;
		row.index = index;
		row.classList.toggle("active", index === this.active);
		row.setAttribute("aria-selected", index === this.active);
		row.setAttribute("aria-posinset", index + 1);
		row.setAttribute("aria-setsize", this.total);
		this.show(row, index);
	}

	wheel(event) {
		event.preventDefault();
		const unit =
			event.deltaMode === 1
				? 3
				: event.deltaMode === 2
					? this.visible
					: 1 / this.rowHeight;
		this.scrollTo(this.top + event.deltaY * unit);
	}

	click(event) {
		const row = event.target.closest(".vrow");
		if (!row) return;
		this.setActive(row.index, false);
		this.choose(row.index, event);
	}

	key(event) {
		const page = Math.max(1, Math.floor(this.visible) - 1);
		const by = {
			ArrowUp: -1,
			ArrowDown: 1,
			PageUp: -page,
			PageDown: page,
			Home: -Infinity,
			End: Infinity,
		};
		if ((event.key === "Enter" || event.key === " ") && this.active >= 0) {
			event.preventDefault();
			event.stopPropagation();
			return void this.choose(this.active, event);
		}
		if (!(event.key in by) || event.altKey) return;
		event.preventDefault();
		event.stopPropagation();
		const from = this.active < 0 ? Math.floor(this.top) - 1 : this.active;
		this.setActive(Math.min(Math.max(0, from + by[event.key]), this.total - 1));
		this.choose(this.active, event);
	}
}
