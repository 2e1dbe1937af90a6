// SPDX-License-Identifier: GPL-2.0-or-later
//
// The box beside the mouse that says what is under it, and the messages at the foot of the page,
// for the eye and for the ear.
import {byId, el, fill, later, grouped} from "./dom.js";
import {spanText, timeText} from "./time.js";
import {counterText} from "./draw_counter.js";

const SAY_MS = 6000;

export class Tip {
	constructor(app) {
		this.app = app;
		this.box = byId("tip");
	}

	hide() {
		this.box.hidden = true;
	}

	show(x, y, tick, slice) {
		const lines = tick ? this.tick(tick) : this.slice(slice);
		fill(
			this.box,
			el("b", {}, lines[0]),
			...lines.slice(1).map((t) => el("div", {}, t)),
		);
		this.box.hidden = false;
		const w = this.box.offsetWidth,
			h = this.box.offsetHeight;
		const left = x + 16 + w > window.innerWidth ? x - 12 - w : x + 16;
		const top = y + 18 + h > window.innerHeight ? y - 12 - h : y + 18;
		this.box.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, top)}px)`;
	}

	tick({row, ts, id, n}) {
		if (id === undefined)
			return [`${grouped(n)} events`, `around ${timeText(ts)}`, row.title];
		return [this.app.trace.eventName(id), timeText(ts), row.title];
	}

	slice(s) {
		if (s.track.kind === "counter") return [counterText(s.row, s.value), s.row.title];
		if (s.crowd)
			return [
				s.text,
				`most of ${spanText(s.duration)}, ${grouped(s.n)} slices, ${spanText(s.busy)} busy`,
				s.row.title,
			];
		return [s.text, `${spanText(s.duration)} from ${timeText(s.start)}`, s.row.title];
	}
}

export class Messages {
	constructor() {
		this.line = byId("message");
		this.live = byId("live");
		this.fade = later(() => (this.line.hidden = true), SAY_MS);
		this.speak = later((text) => (this.live.textContent = text), 120);
	}

	say(text, bad = false) {
		this.line.textContent = text;
		this.line.hidden = false;
		this.line.classList.toggle("error", bad);
		this.fade();
	}

	// For screen readers only.
	announce(text) {
		this.speak(text);
	}
}
