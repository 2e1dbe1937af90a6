// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the picture shows, by names, colours and shapes at known places.
import {assert, alike, at} from "./page.mjs";

// The square beside a task's name has its colour.
async function dot(p, title) {
	const row = await p.row(title);
	const left = await p.evaluate(
		() => document.getElementById("picture").getBoundingClientRect().left,
	);
	return p.evaluate(([x, y]) => window.spur.colour(x, y), [left + 24, row.y + 12]);
}

export default [
	{
		name: "opens",
		async run(p) {
			assert.match(await p.page.title(), /story\.dat/);
			const titles = (await p.rows()).map((r) => r.title);
			for (const title of [
				"CPU 0",
				"CPU 1",
				"alpha 100",
				"beta 101",
				"gamma 102",
			])
				assert.ok(titles.includes(title), `${title} is not in ${titles}`);
			assert.match(await p.text("#trace-facts"), /events, 13\.00 ms/);
		},
	},
	{
		name: "slices have names",
		async run(p) {
			await p.show(at(0.9), at(9.6));
			const labels = await p.labels();
			for (const name of [
				"alpha 100",
				"beta 101",
				"gamma 102",
				"<b>evil</b> 103",
				"CPU 0",
				"read",
			])
				assert.ok(labels.includes(name), `${name} is not in ${labels}`);
		},
	},
	{
		name: "slices have their task's colour",
		async run(p) {
			await p.show(at(0.9), at(9.6));
			for (const [cpu, t, task] of [
				["CPU 0", 2.8, "alpha 100"],
				["CPU 1", 3.9, "beta 101"],
				["CPU 0", 6.9, "gamma 102"],
				["CPU 0", 8.9, "<b>evil</b> 103"],
			]) {
				const own = await dot(p, task);
				const seen = await p.colour(cpu, "main", at(t), 0.1);
				assert.ok(
					alike(seen, own),
					`${task} on ${cpu} is ${seen} instead of ${own}`,
				);
			}
			const nobody = await p.colour("CPU 0", "main", at(3.7));
			assert.ok(
				alike(nobody, await p.colour("CPU 1", "main", at(5.05))),
				"two times when nobody ran",
			);
			assert.ok(!alike(nobody, await dot(p, "alpha 100")));
		},
	},
	{
		name: "states differ in shape",
		async run(p) {
			await p.show(at(0.9), at(9.6));
			const empty = await p.colour("CPU 0", "main", at(3.7));
			const running = (part) => p.colour("beta 101", "main", at(3.2), part);
			const blocked = (part) => p.colour("beta 101", "main", at(5.9), part);
			const runnable = (part) => p.colour("beta 101", "main", at(2.2), part);
			const sleeping = (part) => p.colour("alpha 100", "main", at(5.05), part);
			assert.ok(
				!alike(await running(0.05), empty),
				"running is as high as its lane",
			);
			for (const [name, state] of Object.entries({blocked, runnable})) {
				assert.ok(
					alike(await state(0.05), empty),
					`${name} is not as high as its lane`,
				);
				assert.ok(
					!alike(await state(0.75), empty),
					`${name} is higher than a line`,
				);
			}
			assert.ok(alike(await sleeping(0.75), empty), "sleep is a line");
			assert.ok(
				!alike(await sleeping(0.98), empty),
				"sleep is a line at the bottom",
			);
			assert.ok(!alike(await blocked(0.9), await runnable(0.9)));
		},
	},
	{
		name: "a CPU of which nothing is known does not look idle",
		trace: "unknown",
		async run(p) {
			await p.show(at(0.9), at(11.1));
			const idle = await p.colour("CPU 0", "main", at(8.3), 0.9);
			for (const [cpu, t] of [
				["CPU 0", 4.4],
				["CPU 1", 2.3],
				["CPU 1", 10.3],
			]) {
				const seen = await p.colour(cpu, "main", at(t), 0.9);
				assert.ok(!alike(seen, idle), `${cpu} at ${t} looks idle`);
				const above = await p.colour(cpu, "main", at(t), 0.05);
				assert.ok(alike(above, idle), `${cpu} at ${t} looks busy`);
			}
			const labels = await p.labels();
			assert.equal(labels.filter((l) => l === "unknown").length >= 2, true);
			const {x, y} = await p.place("CPU 1", "main", at(5.3));
			await p.page.mouse.move(x, y + 5);
			await p.until(() => !document.getElementById("tip").hidden);
			assert.match(await p.text("#tip"), /unknown: the trace does not say/);
			await p.click("CPU 1", "main", at(5.3));
			await p.until(() => /no events of this CPU/.test(document.body.innerText));
		},
	},
	{
		name: "what is busy all the time is even",
		trace: "steady",
		async run(p) {
			const t1 = await p.evaluate(() => window.spur.app.trace.duration);
			// Bins narrower and wider than a pixel, intervals of less and of some pixels.
			for (const [from, to] of [
				[0, t1],
				[1000, 11.7e6],
				[3333, 7.1e6],
				[5e6, 6.31e6],
				[13e6, 14.9e6],
				[20e6, 23.91e6],
			]) {
				await p.show(from, to);
				const {lane} = await p.place("CPU 0", "main", (from + to) / 2);
				const holes = await p.evaluate(
					([a, b, y]) => {
						const {spur} = window;
						const empty = String(
							spur.colour(spur.x(a) + 2, y - 2),
						);
						const found = [];
						// The last turn has no end: there the picture may end.
						for (let x = spur.x(a) + 1; x < spur.x(b) - 2; x++)
							if (String(spur.colour(x, y)) === empty)
								found.push(x);
						return found;
					},
					[from, Math.min(to, t1 - 41000), lane.y + 1],
				);
				assert.equal(
					holes.length,
					0,
					`${from}…${to}: not full at ${holes.slice(0, 5)}`,
				);
			}
		},
	},
	{
		name: "lost events are hatched",
		async run(p) {
			await p.show(at(7), at(8.2));
			const row = await p.row("CPU 0");
			const x = await p.evaluate((t) => window.spur.x(t), at(7.5));
			const seen = new Set();
			for (let i = 0; i < 16; i++)
				seen.add(
					String(
						await p.evaluate(
							([a, b]) => window.spur.colour(a, b),
							[x + i, row.y + 6],
						),
					),
				);
			assert.ok(seen.size >= 2, "there are stripes");
		},
	},
	{
		name: "counters are lines",
		async run(p) {
			await p.show(at(0.9), at(9.6));
			const low = await p.colour("CPU 1", "counter", at(3.05), 0.2);
			const high = await p.colour("CPU 1", "counter", at(8.05), 0.2);
			assert.ok(!alike(low, high), "half the frequency is half as high");
		},
	},
	{
		name: "names are never markup",
		async run(p) {
			await p.click("CPU 0", "main", at(8.5));
			assert.match(await p.text("#details"), /<b>evil<\/b>/);
			assert.equal(
				await p.page.locator("#details h2 b, #details dd b").count(),
				0,
			);
			await p.press("/");
			await p.page.keyboard.type('sched_switch:prev_comm=="<b>evil</b>"');
			await p.press("Enter", "Escape");
			assert.equal(await p.page.locator(".vrow span b").count(), 0);
		},
	},
	{
		name: "dark and light",
		async run(p) {
			const sum = async () =>
				(await p.colour("CPU 0", "main", at(3.7))).reduce((a, b) => a + b);
			const before = await sum();
			await p.page.click("#toggle-theme");
			await p.settled();
			const after = await sum();
			assert.ok(before > 600 && after < 150, `${before}, ${after}`);
			await p.page.reload();
			await p.until(() => window.spur?.settled);
			assert.equal(await sum(), after);
		},
	},
	{
		name: "dark when the system is",
		options: {colorScheme: "dark"},
		async run(p) {
			assert.equal(
				await p.evaluate(() => document.documentElement.dataset.theme),
				"dark",
			);
		},
	},
	{
		name: "sharp on a fine screen",
		options: {deviceScaleFactor: 2, viewport: {width: 1920, height: 1080}},
		async run(p) {
			const ratio = await p.evaluate(() => {
				const c = document.getElementById("picture");
				return c.width / c.clientWidth;
			});
			assert.equal(ratio, 2);
			await p.show(at(0.9), at(9.6));
			assert.ok((await p.labels()).includes("gamma 102"));
		},
	},
	{
		name: "only rows in sight are asked for and drawn",
		trace: "crowd",
		async run(p, facts) {
			assert.ok(
				(await p.evaluate(() => window.spur.app.trace.rows.length)) >=
					facts.tasks,
			);
			assert.ok((await p.rows()).length < 60);
			const asked = await p.evaluate(() => window.spur.app.tiles.rows.size);
			assert.ok(asked < 60, `${asked} rows were asked for`);
			await p.press("End");
			assert.ok((await p.rows()).some((r) => r.type === "row"));
			const counts = await p.evaluate(() => window.spur.counts);
			assert.ok(counts.rects < 8000, JSON.stringify(counts));
		},
	},
	{
		name: "files are groups",
		trace: "both",
		async run(p) {
			const groups = (await p.rows())
				.filter((r) => r.type === "group")
				.map((r) => r.title);
			assert.ok(
				groups.includes("story.dat") && groups.includes("calls.dat"),
				String(groups),
			);
			assert.match(await p.page.title(), /story\.dat, calls\.dat/);
		},
	},
	{
		name: "a file that does not open is said",
		trace: "damaged",
		async run(p) {
			assert.match(await p.text("#problems"), /broken\.dat: ..../);
			assert.ok(
				(await p.rows()).some((r) => r.title === "alpha 100"),
				"the other one is shown",
			);
		},
	},
	{
		name: "a file that is all there is and does not open is said",
		trace: "nothing",
		async run(p) {
			assert.match(await p.text("#problems"), /broken\.dat: ..../);
			assert.equal((await p.rows()).length, 0);
		},
	},
	{
		name: "calls are nested",
		trace: "calls",
		async run(p) {
			await p.show(0, 60000);
			const labels = await p.labels();
			assert.ok(
				labels.includes("function_0") && labels.includes("function_3"),
				String(labels),
			);
			const lanes = async () =>
				(await p.row("worker 7")).lanes.filter((l) => l.kind === "call")
					.length;
			assert.equal(await lanes(), 4, "the deepest are folded");
			await p.page.mouse.click(10, (await p.row("worker 7")).y + 12);
			await p.settled();
			assert.equal(await lanes(), 8);
			assert.ok((await p.labels()).includes("function_7"));
		},
	},
];
