// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where in time the view is: zooming, panning, jumping, and the way back.
//
// Jumps glide for a moment so that the eye can follow, unless the system asks for less motion.
// Places where the view came to rest are kept: back() and forward() go through them.
import {later} from "./dom.js";

const GLIDE_MS = 160;
const REST_MS = 500;
const MOST_PLACES = 100;
const SHORTEST = 10; // nanoseconds in sight
const BEYOND = 0.05; // of the duration may be seen before and after it

export class Motion {
	constructor(state, trace) {
		this.state = state;
		this.trace = trace;
		this.places = [];
		this.place = -1;
		this.target = null;
		this.rest = later(() => this.remember(), REST_MS);
		this.onPlaces = () => {};
	}

	// What is in sight now.
	get range() {
		const {t0, t1} = this.state;
		return t0 === null ? this.whole() : {t0, t1};
	}

	// What a glide under way will end with: steps add up however fast they come.
	get goal() {
		return this.target || this.range;
	}

	whole() {
		const d = Math.max(this.trace.duration, 1000);
		return {t0: -d * 0.005, t1: d * 1.005};
	}

	limited(t0, t1) {
		const d = Math.max(this.trace.duration, 1000);
		const most = d * (1 + 2 * BEYOND);
		const span = Math.min(Math.max(t1 - t0, SHORTEST), most);
		const middle = (t0 + t1) / 2;
		const from = Math.min(
			Math.max(middle - span / 2, -d * BEYOND),
			d * (1 + BEYOND) - span,
		);
		return {t0: from, t1: from + span};
	}

	// At once.
	show(t0, t1) {
		this.target = null;
		this.state.set(this.limited(t0, t1));
		this.rest();
	}

	glide(t0, t1) {
		const to = this.limited(t0, t1);
		if (matchMedia("(prefers-reduced-motion: reduce)").matches)
			return this.show(to.t0, to.t1);
		const from = this.range;
		const began = performance.now();
		this.target = to;
		const step = (now) => {
			if (this.target !== to) return;
			const p = Math.min(1, Math.max(0, (now - began) / GLIDE_MS));
			const q = 1 - (1 - p) ** 3;
			this.state.set({
				t0: from.t0 + (to.t0 - from.t0) * q,
				t1: from.t1 + (to.t1 - from.t1) * q,
			});
			if (p < 1) requestAnimationFrame(step);
			else this.show(to.t0, to.t1);
		};
		requestAnimationFrame(step);
	}

	// factor < 1: closer; `at` stays where it is.
	zoom(factor, at) {
		const {t0, t1} = this.range;
		const d = Math.max(this.trace.duration, 1000);
		const f = Math.min(
			Math.max(factor, SHORTEST / (t1 - t0)),
			(d * (1 + 2 * BEYOND)) / (t1 - t0),
		);
		this.show(at - (at - t0) * f, at + (t1 - at) * f);
	}

	pan(ns) {
		const {t0, t1} = this.range;
		this.show(t0 + ns, t1 + ns);
	}

	fit() {
		const {t0, t1} = this.whole();
		this.glide(t0, t1);
	}

	// A range with some room around it.
	zoomTo(t0, t1, room = 0.1) {
		const span = Math.max(t1 - t0, SHORTEST);
		this.glide(t0 - span * room, t1 + span * room);
	}

	// Brings a time into sight without changing the scale, if it is not there yet.
	reveal(t) {
		const {t0, t1} = this.goal;
		const edge = (t1 - t0) * 0.05;
		if (t < t0 + edge || t > t1 - edge)
			this.glide(t - (t1 - t0) / 2, t + (t1 - t0) / 2);
	}

	remember() {
		const {t0, t1} = this.range;
		const y = this.state.y;
		const last = this.places[this.place];
		if (last && last.t0 === t0 && last.t1 === t1) return;
		this.places.length = this.place + 1;
		this.places.push({t0, t1, y});
		if (this.places.length > MOST_PLACES) this.places.shift();
		this.place = this.places.length - 1;
		this.onPlaces();
	}

	canGo(by) {
		return this.place + by >= 0 && this.place + by < this.places.length;
	}

	go(by) {
		this.remember();
		if (!this.canGo(by)) return;
		this.place += by;
		const {t0, t1, y} = this.places[this.place];
		this.state.set({y});
		this.glide(t0, t1);
		this.onPlaces();
	}
}
