// SPDX-License-Identifier: GPL-2.0-or-later
//
// A scrollbar of our own. That of the browser ends where elements become too high, some ten million
// pixels; a list of a hundred million events is longer. This one only knows three numbers.
import {el} from "./dom.js";

const SHORTEST = 28; // pixels of the thumb

export class Scrollbar {
	// move(first): somebody wants `first` at the top.
	constructor(host, move, label) {
		this.move = move;
		this.thumb = el("div", {class: "thumb"});
		this.bar = el(
			"div",
			{
				class: "scrollbar",
				role: "scrollbar",
				tabIndex: -1,
				aria: {orientation: "vertical", label, valuemin: "0"},
			},
			this.thumb,
		);
		host.append(this.bar);
		this.set(0, 1, 1);
		this.bar.addEventListener("pointerdown", (e) => this.down(e));
		this.bar.addEventListener("pointermove", (e) => this.drag(e));
		for (const end of ["pointerup", "pointercancel"])
			this.bar.addEventListener(end, () => (this.grip = null));
	}

	set(first, visible, total) {
		Object.assign(this, {first, visible, total});
		this.most = Math.max(0, total - visible);
		this.bar.classList.toggle("idle", this.most <= 0);
		this.bar.setAttribute("aria-valuemax", Math.round(this.most));
		this.bar.setAttribute("aria-valuenow", Math.round(first));
		const height = this.bar.clientHeight || 1;
		this.size = Math.min(
			height,
			Math.max(SHORTEST, (height * visible) / Math.max(total, 1)),
		);
		const y = this.most ? (height - this.size) * Math.min(1, first / this.most) : 0;
		this.thumb.style.height = `${this.size}px`;
		this.thumb.style.transform = `translateY(${y}px)`;
	}

	down(event) {
		if (event.button) return;
		event.preventDefault();
		this.bar.setPointerCapture(event.pointerId);
		const thumb = this.thumb.getBoundingClientRect();
		const inside = event.clientY >= thumb.top && event.clientY <= thumb.bottom;
		this.grip = inside ? event.clientY - thumb.top : this.size / 2;
		if (!inside) this.drag(event);
	}

	drag(event) {
		if (this.grip === null || this.grip === undefined) return;
		const box = this.bar.getBoundingClientRect();
		const room = Math.max(1, box.height - this.size);
		const part = Math.min(1, Math.max(0, (event.clientY - box.top - this.grip) / room));
		this.move(part * this.most);
	}
}
