// SPDX-License-Identifier: GPL-2.0-or-later
//
// A page that `spur view --html` wrote, without a server: node saved.mjs FACTS, which drawing.py
// does. Prints a line per case as run.mjs does.
import {createRequire} from "node:module";
import {assert, Page} from "./page.mjs";

const facts = JSON.parse(process.argv[2]);
const {chromium} = createRequire(facts.playwright + "/")("playwright-core");

const CASES = [
	{
		name: "shows slices, names and states",
		file: "whole",
		async run(p) {
			await p.show(0, 10e6);
			const labels = await p.labels();
			for (const name of ["alpha 100", "<b>& 103", "blocked", "read"])
				assert.ok(labels.includes(name), `${name} is not in ${labels}`);
			const titles = (await p.rows()).map((r) => r.title);
			for (const title of ["CPU 0", "CPU 1", "beta 101"])
				assert.ok(titles.includes(title), `${title} is not in ${titles}`);
		},
	},
	{
		name: "draws what the picture has",
		file: "whole",
		async run(p) {
			for (const {row, ms, colour} of facts.places) {
				const {lanes} = await p.row(row);
				const got = await p.evaluate(
					([t, y]) => window.spur.colour(window.spur.x(t), y),
					[ms * 1e6, lanes[0].y + lanes[0].h - 3],
				);
				assert.deepEqual(got, colour, `${row} at ${ms} ms`);
			}
		},
	},
	{
		name: "zooms in as far as one likes",
		file: "small",
		async run(p) {
			await p.show(5e6, 5e6 + 2000);
			const row = await p.row("busy 104");
			const got = await p.evaluate(
				([y]) => window.spur.colour(window.spur.x(5e6 + 1000), y),
				[row.lanes[0].y + row.lanes[0].h - 1],
			);
			assert.notDeepEqual(got, [251, 252, 253]);
		},
	},
	{
		name: "tells what a slice is",
		file: "whole",
		async run(p) {
			await p.evaluate(() => {
				const {app} = window.spur;
				const row = app.trace.rows.find((r) => r?.title === "beta 101");
				const track = row.tracks.find((t) => t.kind === "running");
				return app.pick.slice(row, track.track, 1.5e6);
			});
			const {slice} = await p.evaluate(() => window.spur.picked);
			assert.equal(slice.start, 1e6);
			assert.equal(slice.duration, 2e6);
		},
	},
	{
		name: "says why a task waited",
		file: "whole",
		async run(p) {
			await pickState(p, "beta 101", 3.5e6);
			await p.until(() => window.spur.picked?.why);
			assert.match(
				await p.text("#details .why"),
				/beta-101 was blocked for 2\.000 ms.*woken by the idle task on CPU 1/s,
			);
		},
	},
	{
		name: "says when it does not have why a task waited",
		file: "part",
		async run(p) {
			await pickState(p, "beta 101", 5.5e6);
			await p.until(() => window.spur.picked?.why);
			assert.match(await p.text("#details .why"), /not in this saved page/);
		},
	},
	{
		name: "lists its events",
		file: "whole",
		async run(p) {
			await p.until(() => {
				const pane = document.getElementById("pane-events");
				return pane.textContent.includes("sys_enter_read");
			});
			const n = await p.evaluate(() => window.spur.app.list.list.total);
			assert.equal(n, facts.events);
		},
	},
	{
		name: "has fields and stacks of its events",
		file: "stacks",
		async run(p) {
			await p.evaluate(() => window.spur.app.pick.event(0));
			const text = await p.text("#details");
			for (const word of ["my_kprobe", "arg1", "Stack of the kernel", "outer"])
				assert.ok(text.includes(word), `${word} is not in ${text}`);
		},
	},
	{
		name: "says when it had no room for fields",
		file: "small",
		async run(p) {
			const n = await p.evaluate(() => window.spur.app.list.list.total);
			assert.ok(n > 1000, `${n} events`);
			await p.evaluate((last) => window.spur.app.pick.event(last), n - 1);
			assert.match(await p.text("#details"), /not in this saved page/);
			await p.evaluate(() => window.spur.app.pick.event(0));
			assert.match(await p.text("#details"), /next_comm/);
		},
	},
	{
		name: "groups by process",
		file: "processes",
		async run(p) {
			const titles = (await p.rows()).map((r) => r.title);
			const at = (title) => titles.indexOf(title);
			assert.ok(at("server 500") >= 0, String(titles));
			assert.ok(at("worker 501") > at("server 500"), String(titles));
			assert.ok(at("lonely 700") > at("Other tasks"), String(titles));
		},
	},
	{
		name: "says what it cannot do",
		file: "whole",
		async run(p) {
			assert.ok(await p.page.locator("#search").isDisabled());
			assert.ok(await p.page.locator("#tab-sql").isDisabled());
			assert.ok(await p.page.locator("#open-record").isHidden());
			await p.evaluate(() => {
				const {app} = window.spur;
				const row = app.trace.rows.find((r) => r?.title === "beta 101");
				const track = row.tracks.find((t) => t.kind === "running");
				const picked = app.pick.slice(row, track.track, 1.5e6);
				return picked.then(() => app.pick.chain());
			});
			assert.match(await p.page.locator("#message").textContent(), /spur view/);
		},
	},
	{
		name: "begins with the part it was made of",
		file: "part",
		async run(p) {
			const {t0, t1} = await p.view();
			assert.deepEqual([t0, t1], [2e6, 3e6 + 1]);
		},
	},
];

// Selects what a task does at a time in which it does not run.
function pickState(p, title, ts) {
	return p.evaluate(
		([wanted, at]) => {
			const {app} = window.spur;
			const row = app.trace.rows.find((r) => r?.title === wanted);
			const track = row.tracks.find((t) => t.kind === "state");
			return app.pick.slice(row, track.track, at).then(() => null);
		},
		[title, ts],
	);
}

function print(word, name, note = "") {
	console.log([word, name, note.replace(/\s+/g, " ")].join("\t"));
}

const browser = await chromium.launch({
	executablePath: "/usr/bin/chromium",
	args: ["--no-sandbox"],
});
for (const {name, file, run} of CASES) {
	const context = await browser.newContext({viewport: {width: 1400, height: 900}});
	const page = new Page(await context.newPage(), facts);
	try {
		await page.open(`file://${facts.directory}/${file}.html`);
		await run(page);
		page.mustBeQuiet();
		print("ok", name);
	} catch (e) {
		print("FAIL", name, e.message);
	}
	await context.close();
}
await browser.close();
