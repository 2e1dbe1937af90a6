// SPDX-License-Identifier: GPL-2.0-or-later
//
// Zoom and pan, by mouse and keys, and the way back.
import {assert, at, near, MS} from "./page.mjs";

const span = ({t0, t1}) => t1 - t0;

// The view after it has come to rest.
async function rested(p) {
	await p.page.waitForTimeout(700);
	return p.view();
}

export default [
	{
		name: "the wheel zooms at the mouse",
		async run(p) {
			const before = await p.view();
			const {x, y} = await p.place("CPU 0", "main", at(5));
			await p.page.mouse.move(x, y);
			await p.page.mouse.wheel(0, -600);
			await p.settled();
			const after = await p.view();
			assert.ok(span(after) < span(before) / 2);
			near(
				await p.evaluate((t) => window.spur.x(t), at(5)),
				x,
				1,
				"the time under the mouse stays",
			);
			await p.page.mouse.wheel(0, 5000);
			await p.settled();
			near(span(await p.view()), span(before), span(before) * 0.2, "and back");
		},
	},
	{
		name: "dragging pans",
		async run(p) {
			await p.show(at(2), at(4));
			const {y} = await p.place("CPU 0", "main", at(3));
			await p.page.mouse.move(900, y);
			await p.page.mouse.down();
			await p.page.mouse.move(600, y, {steps: 6});
			await p.page.mouse.up();
			const {t0, t1} = await p.view();
			near(t1 - t0, 2 * MS, 1, "the scale stays");
			assert.ok(t0 > at(2.3));
		},
	},
	{
		name: "shift and wheel pan",
		async run(p) {
			await p.show(at(2), at(4));
			const {x, y} = await p.place("CPU 0", "main", at(3));
			await p.page.mouse.move(x, y);
			await p.page.keyboard.down("Shift");
			await p.page.mouse.wheel(0, 200);
			await p.page.keyboard.up("Shift");
			await p.settled();
			assert.ok((await p.view()).t0 > at(2.05));
		},
	},
	{
		name: "W, A, S and D move as long as they are held",
		async run(p) {
			await p.show(at(2), at(6));
			const hold = async (key) => {
				const before = await p.view();
				await p.page.keyboard.down(key);
				await p.page.waitForTimeout(200);
				await p.page.keyboard.up(key);
				await p.settled();
				return [before, await p.view()];
			};
			let [before, after] = await hold("w");
			assert.ok(span(after) < span(before), "w zooms in");
			[before, after] = await hold("d");
			assert.ok(after.t0 > before.t0, "d goes right");
			[before, after] = await hold("a");
			assert.ok(after.t0 < before.t0, "a goes left");
			[before, after] = await hold("s");
			assert.ok(span(after) > span(before), "s zooms out");
		},
	},
	{
		name: "back and forward",
		async run(p) {
			const first = await rested(p);
			await p.show(at(2), at(4));
			const second = await rested(p);
			await p.show(at(2.5), at(2.6));
			await rested(p);
			await p.press("[");
			near((await rested(p)).t0, second.t0, 1, "back");
			await p.page.click("#go-back");
			near((await rested(p)).t0, first.t0, 1, "back again");
			await p.press("]");
			near((await rested(p)).t0, second.t0, 1, "forward");
			await p.press("0");
			near(span(await rested(p)), span(first), 1, "the whole trace");
		},
	},
	{
		name: "the strip shows and moves the part",
		async run(p) {
			await p.show(at(2), at(4));
			const box = await p.page.locator("#overview").boundingBox();
			const x = (t) => box.x + (box.width * (t + 0.065 * MS)) / (13.13 * MS);
			await p.page.mouse.move(x(at(3)), box.y + 20);
			await p.page.mouse.down();
			await p.page.mouse.move(x(at(8)), box.y + 20, {steps: 5});
			await p.page.mouse.up();
			await p.settled();
			const {t0, t1} = await p.view();
			near(t1 - t0, 2 * MS, 10, "the scale stays");
			near(t0, at(7), 0.2 * MS, "the part was moved");
		},
	},
	{
		name: "zoom to the selected area",
		async run(p) {
			await p.show(at(1), at(9));
			const a = await p.place("CPU 0", "main", at(3)),
				b = await p.place("CPU 1", "main", at(5));
			await p.page.keyboard.down("Shift");
			await p.page.mouse.move(a.x, a.y);
			await p.page.mouse.down();
			await p.page.mouse.move(b.x, b.y, {steps: 5});
			await p.page.mouse.up();
			await p.page.keyboard.up("Shift");
			await p.press("z");
			const {t0, t1} = await rested(p);
			near(t0, at(3), 0.1 * MS, "from");
			near(t1, at(5), 0.1 * MS, "to");
		},
	},
	{
		name: "markers and their difference",
		async run(p) {
			await p.show(at(1), at(9));
			const top = (await p.page.locator("#overlay").boundingBox()).y + 24;
			const x = (ms) => p.evaluate((t) => window.spur.x(t), at(ms));
			await p.page.mouse.click(await x(2), top);
			await p.page.keyboard.down("Shift");
			await p.page.mouse.click(await x(4.5), top);
			await p.page.keyboard.up("Shift");
			await p.settled();
			const {a, b} = await p.evaluate(() => ({
				a: window.spur.app.state.a,
				b: window.spur.app.state.b,
			}));
			near(a, at(2), 0.02 * MS, "A");
			near(b, at(4.5), 0.02 * MS, "B");
			assert.match(
				await p.text("#markers"),
				/B − A = 2\.(49|50)\d ms|B − A = 2\.5\d\d ms/,
			);
			await p.page.mouse.move(await x(2), top - 16);
			await p.page.mouse.down();
			await p.page.mouse.move(await x(3), top - 16, {steps: 4});
			await p.page.mouse.up();
			near(
				await p.evaluate(() => window.spur.app.state.a),
				at(3),
				0.03 * MS,
				"a marker can be dragged",
			);
			await p.press("x");
			assert.equal(await p.text("#markers"), "");
		},
	},
];
