// SPDX-License-Identifier: GPL-2.0-or-later
//
// The page as cases see it: places by row and time, and what window.spur says about the picture.
import assert from "node:assert/strict";

export {assert};

export class Skip extends Error {}

export const MS = 1e6;

// Times of the story are relative to its first event, at one millisecond.
export const at = (ms) => (ms - 1) * MS;

const PATIENCE = 30000;

export class Page {
	constructor(page, facts) {
		this.page = page;
		this.facts = facts;
		this.errors = [];
		page.on("pageerror", (e) => this.errors.push(e.stack));
		page.on("console", (m) => m.type() === "error" && this.errors.push(m.text()));
		page.setDefaultTimeout(PATIENCE);
	}

	async open(url) {
		await this.page.goto(url);
		await this.page.waitForFunction(() => window.spur?.app.trace.progress === 1);
		await this.settled();
	}

	// What the browser complained about: scripts that failed, what the content security policy
	// refused.
	mustBeQuiet() {
		const loud = this.errors.filter((e) => !/status of (400|404)/.test(e));
		assert.deepEqual(loud, []);
	}

	async settled() {
		await this.page.waitForTimeout(60);
		await this.page.waitForFunction(() => window.spur.settled);
	}

	evaluate(f, arg) {
		return this.page.evaluate(f, arg);
	}

	// Waits until a function of the page is true.
	until(f, arg) {
		return this.page.waitForFunction(f, arg);
	}

	async press(...keys) {
		for (const key of keys) await this.page.keyboard.press(key);
		await this.settled();
	}

	view() {
		return this.evaluate(() => window.spur.view);
	}

	async show(t0, t1) {
		await this.evaluate(([a, b]) => window.spur.app.motion.show(a, b), [t0, t1]);
		await this.settled();
	}

	rows() {
		return this.evaluate(() => window.spur.rows);
	}

	labels() {
		return this.evaluate(() => window.spur.labels);
	}

	async row(title) {
		const found = (await this.rows()).find((r) => r.title === title);
		assert.ok(found, `there is no row ${title}`);
		return found;
	}

	// The middle of a lane of a row, at a time.
	async place(title, kind, t) {
		const row = await this.row(title);
		const lane = row.lanes.find((l) => l.kind === kind);
		assert.ok(lane, `${title} has no lane ${kind}`);
		return {
			x: await this.evaluate((time) => window.spur.x(time), t),
			y: lane.y + lane.h / 2,
			lane,
		};
	}

	async click(title, kind, t) {
		const {x, y} = await this.place(title, kind, t);
		await this.page.mouse.click(x, y);
		await this.settled();
	}

	// Of the picture; part: 0 is the top of the lane, 1 its bottom.
	async colour(title, kind, t, part = 0.5) {
		const {x, lane} = await this.place(title, kind, t);
		return this.evaluate(
			([a, b]) => window.spur.colour(a, b),
			[x, lane.y + 1 + (lane.h - 2) * part],
		);
	}

	text(selector) {
		return this.page.locator(selector).innerText();
	}

	picked() {
		return this.evaluate(() => {
			const p = window.spur.picked;
			return (
				p && {
					kind: p.kind,
					row: p.row?.title,
					start: p.slice?.start,
					duration: p.slice?.duration,
					n: p.n,
					event: p.event?.event,
					ts: p.ts,
				}
			);
		});
	}
}

export function near(a, b, by, what) {
	assert.ok(Math.abs(a - b) <= by, `${what}: ${a} instead of ${b}`);
}

export function alike(a, b) {
	return a.every((v, i) => Math.abs(v - b[i]) <= 2);
}
