// SPDX-License-Identifier: GPL-2.0-or-later
//
// The list, search, histogram, flame graph, SQL, and recording.
import {assert, at, near, Skip} from "./page.mjs";

const cells = (p, selector) => p.page.locator(`${selector} .vlist .vrow:visible`).allInnerTexts();

async function search(p, text) {
	await p.press("/");
	await p.page.fill("#search", text);
	await p.press("Enter");
}

export default [
	{
		name: "the list goes to the last event",
		async run(p, facts) {
			await p.page.locator("#pane-events .vlist-body").focus();
			await p.press("End");
			const last = `arg1=${facts.busy - 1}`;
			await p
				.until(
					(text) =>
						[
							...document.querySelectorAll(
								"#pane-events .vrow.active",
							),
						].some(
							(r) =>
								r.textContent.includes(
									"my_kprobe",
								) && r.textContent.includes(text),
						),
					last,
				)
				.catch(async () => {
					throw new Error(
						`${last} is not in ${(await cells(p, "#pane-events")).slice(-2)}`,
					);
				});
			await p.until(() => window.spur.picked?.kind === "event");
			const {n} = await p.picked();
			const total = await p.evaluate(() => window.spur.app.list.list.total);
			assert.equal(n, total - 1);
			assert.ok(total > facts.busy);
			const {t0, t1} = await p.view();
			assert.ok(
				(await p.picked()).ts <= t1 && (await p.picked()).ts >= t0,
				"the picture shows it",
			);
		},
	},
	{
		name: "the list by its scrollbar",
		async run(p) {
			const box = await p.page.locator("#pane-events .scrollbar").boundingBox();
			await p.page.mouse.click(box.x + 6, box.y + box.height / 2);
			await p.settled();
			await p.until(() =>
				[...document.querySelectorAll("#pane-events .vlist .vrow")].some(
					(r) => /my_kprobe/.test(r.textContent),
				),
			);
			const top = await p.evaluate(() => window.spur.app.list.list.top);
			near(top, 20000, 1500, "half way down");
			const elements = await p.page.locator("#pane-events .vrow").count();
			assert.ok(elements < 60, `${elements} elements`);
		},
	},
	{
		name: "the list and the picture follow each other",
		async run(p) {
			await p.show(at(4.4), at(5.6));
			await p.until(() =>
				/sched_switch|sys_enter/.test(
					document.querySelector("#pane-events .vlist .vrow")
						.textContent,
				),
			);
			await p.page
				.locator("#pane-events .vlist .vrow", {hasText: "sys_enter_read"})
				.first()
				.click();
			await p.until(() => window.spur.picked?.kind === "event");
			near((await p.picked()).ts, at(5), 0, "what was clicked in the list");
			await p.show(at(7.9), at(9.1));
			await p.evaluate(() => window.spur.app.pick.clear());
			await p.show(at(7.95), at(9.1));
			await p.until(() =>
				/evil/.test(
					document.querySelector("#pane-events .vlist .vrow")
						.textContent,
				),
			);
		},
	},
	{
		name: "search with the filter language",
		async run(p) {
			await p.show(0, at(10));
			await search(p, "irq_handler_entry:irq==5");
			await p.until(
				() =>
					document.getElementById("search-note").textContent ===
					"1 hit",
			);
			await p.evaluate(() => document.activeElement.blur());
			await p.press("n");
			await p.until(
				() => window.spur.picked?.event?.event === "irq_handler_entry",
			);
			near((await p.picked()).ts, at(6), 0, "the hit");
			// On the strip: there is no such colour at its foot but at the hit.
			const marked = await p.evaluate(() => {
				const c = document.getElementById("overview");
				const line = c
					.getContext("2d")
					.getImageData(0, c.height - 4, c.width, 1).data;
				const found = [];
				for (let x = 0; x < c.width; x++)
					if (
						line[4 * x] > 180 &&
						line[4 * x + 1] < 170 &&
						line[4 * x + 2] < 60
					)
						found.push(x / c.width);
				return found;
			});
			assert.ok(marked.length >= 1 && marked.length <= 4, String(marked));
			near(
				marked[0],
				(at(6) + 0.065e6) / 13.13e6,
				0.01,
				"where the hit is on the strip",
			);
		},
	},
	{
		name: "next and previous hit",
		async run(p) {
			await search(p, "sched_switch");
			await p.until(() =>
				/hits$/.test(document.getElementById("search-note").textContent),
			);
			await p.evaluate(() => window.spur.app.state.set({cursor: 0}));
			await p.page.click("#search-next");
			await p.until(() => window.spur.picked?.kind === "event");
			const first = (await p.picked()).ts;
			// The next one has the same time.
			const {n} = await p.picked();
			await p.page.click("#search-next");
			await p.until((m) => window.spur.picked.n > m, n);
			await p.page.click("#search-prev");
			await p.until((m) => window.spur.picked.n === m, n);
			assert.equal((await p.picked()).ts, first);
			await p.page.check("#pane-events .bar label:nth-of-type(2) input");
			await p.until(() =>
				/^1\d hits|^[89] hits/.test(
					document.querySelector("#pane-events .bar").textContent,
				),
			);
			assert.ok(
				(await cells(p, "#pane-events")).every((l) =>
					/sched_switch/.test(l),
				),
			);
		},
	},
	{
		name: "hits of the same moment",
		trace: "processes",
		async run(p) {
			await search(p, "cpu_frequency");
			await p.until(
				() =>
					document.getElementById("search-note").textContent ===
					"4 hits",
			);
			await p.evaluate(() => window.spur.app.state.set({cursor: 0}));
			const go = async (id) => {
				const before = (await p.picked())?.n ?? -1;
				await p.page.click(id);
				await p.until((m) => (window.spur.picked?.n ?? -1) !== m, before);
				return (await p.picked()).n;
			};
			const there = [],
				back = [];
			for (let i = 0; i < 4; i++) there.push(await go("#search-next"));
			for (let i = 0; i < 3; i++) back.push(await go("#search-prev"));
			assert.equal(new Set(there).size, 4, String(there));
			assert.deepEqual(back.reverse(), there.slice(0, 3));
			// The list of hits goes along.
			await p.page.check("#pane-events .bar label:nth-of-type(2) input");
			await go("#search-next");
			await p.until(() => window.spur.app.list.list.active === 1);
		},
	},
	{
		name: "search for text",
		async run(p) {
			await p.page.selectOption("#search-how", "text");
			await search(p, "FD=3");
			await p.until(
				() =>
					document.getElementById("search-note").textContent ===
					"1 hit",
			);
		},
	},
	{
		name: "a wrong filter says what is wrong",
		async run(p) {
			await search(p, "sched_switch:prev_pid==(");
			await p.until(() =>
				document.getElementById("search-note").classList.contains("error"),
			);
			assert.ok((await p.text("#search-note")).length > 10);
			await search(p, "");
			assert.equal(await p.text("#search-note"), "");
		},
	},
	{
		name: "histogram",
		async run(p) {
			await p.click("beta 101", "main", at(3.2));
			await p.press("3");
			await p.until(() =>
				/max/.test(document.querySelector("#pane-hist .stats").textContent),
			);
			assert.match(await p.text("#pane-hist .stats"), /max 1\.500 ms/);
			await p.page.selectOption("#pane-hist select", "latency");
			await p.until(() =>
				/max 500\.0 µs/.test(
					document.querySelector("#pane-hist .stats").textContent,
				),
			);
		},
	},
	{
		name: "flame graph",
		trace: "calls",
		async run(p) {
			await p.press("4");
			await p.until(() => window.spur.app.panes.panes.flame.frames?.length > 8);
			const names = await p.evaluate(() =>
				window.spur.app.panes.panes.flame.frames.map((f) => f.node.name),
			);
			assert.ok(
				names.includes("function_0") && names.includes("function_7"),
				String(names),
			);
			const canvas = await p.page.locator("#pane-flame canvas").boundingBox();
			const depth = await p.evaluate(
				() =>
					window.spur.app.panes.panes.flame.frames.find(
						(f) => f.node.name === "function_1",
					).depth,
			);
			await p.page.mouse.click(canvas.x + 10, canvas.y + depth * 18 + 9);
			assert.match(await p.text("#pane-flame .bar"), /function_1/);
		},
	},
	{
		name: "flame graph by keyboard",
		trace: "calls",
		async run(p) {
			await p.press("4");
			await p.until(() => window.spur.app.panes.panes.flame.frames?.length > 8);
			await p.page.locator("#pane-flame canvas").focus();
			const at = () =>
				p.evaluate(() => window.spur.app.panes.panes.flame.at.name);
			const top = () =>
				p.evaluate(() => window.spur.app.panes.panes.flame.top.name);
			await p.press("ArrowDown", "ArrowDown", "ArrowDown");
			assert.equal(await at(), "function_2");
			assert.match(await p.text("#pane-flame .bar"), /function_2/);
			await p.press("ArrowUp");
			assert.equal(await at(), "function_1");
			await p.press("Enter");
			assert.equal(await top(), "function_1");
			await p.press("Backspace");
			assert.equal(await top(), "function_0");
			await p.press("Escape");
			assert.equal(await p.evaluate(() => document.activeElement.id), "overlay");
		},
	},
	{
		name: "rows of a list are even",
		async run(p) {
			await p.evaluate(() => window.spur.app.pick.event(3));
			await p.settled();
			const tops = await p.evaluate(() =>
				[...document.querySelectorAll("#pane-events .vlist .vrow")]
					.filter((r) => !r.hidden)
					.map((r) => r.getBoundingClientRect().top)
					.sort((a, b) => a - b),
			);
			assert.ok(tops.length > 3);
			tops.slice(1).forEach((y, i) => near(y - tops[i], 22, 0.5, `row ${i + 1}`));
		},
	},
	{
		name: "functions are added up, in words that say how",
		trace: "calls",
		async run(p) {
			await p.press("2");
			await p.page.click("#pane-sum .tabs >> text=functions");
			assert.match(await p.text("#pane-sum .bar"), /cut at the ends/);
			await p.until(() =>
				/function_7/.test(document.querySelector("#pane-sum").textContent),
			);
			const line = (await cells(p, "#pane-sum")).find((l) =>
				/function_7/.test(l),
			);
			// 20 calls of 14 us each, which call nobody.
			assert.deepEqual(line.split(/\n/).slice(1, 4), [
				"20",
				"280.0 µs",
				"280.0 µs",
			]);
		},
	},
	{
		name: "SQL and back to the picture",
		async run(p) {
			await p.show(0, at(2));
			await p.press("5");
			await p.page.fill(
				"#pane-sql textarea",
				"select ts, comm, pid, dur from slices where pid = 102 and dur > 1000000",
			);
			await p.page.keyboard.press("Control+Enter");
			await p.until(() =>
				/^1 rows/.test(
					document.querySelectorAll("#pane-sql .bar")[1].textContent,
				),
			);
			await p.page.locator("#pane-sql .vlist .vrow").first().click();
			await p.until(() => window.spur.picked?.row?.title === "gamma 102");
			near((await p.picked()).start, at(4.5), 0, "the slice of the result");
			await p.page.fill("#pane-sql textarea", "select * from nothing_like_this");
			await p.page.keyboard.press("Control+Enter");
			await p.until(() =>
				/nothing_like_this/.test(
					document.querySelector("#pane-sql .error")?.textContent,
				),
			);
		},
	},
	{
		name: "recording is off, and the page says how to switch it on",
		trace: "story",
		async run(p) {
			assert.equal(
				await p.evaluate(() => window.spur.app.trace.canRecord),
				false,
			);
			await p.page.click("#open-record");
			assert.match(await p.text("#message"), /spur view --record/);
			assert.equal(
				await p.evaluate(() => document.getElementById("record").open),
				false,
			);
		},
	},
	{
		name: "record, and see it",
		trace: "calls",
		async run(p) {
			if (!(await p.evaluate(() => window.spur.app.trace.canRecord)))
				throw new Skip("recording needs root");
			await p.press("R");
			await p.page.fill("#record input[type=search]", "sched_switch");
			await p.until(() =>
				/sched:sched_switch/.test(
					document.querySelector("#record .vlist").textContent,
				),
			);
			await p.page
				.locator("#record .vlist .vrow", {hasText: "sched:sched_switch"})
				.first()
				.click();
			assert.match(await p.text("#record .picked"), /sched:sched_switch/);
			await p.page.click("#record button.primary");
			await p.until(() =>
				/recording for/.test(
					document.querySelector("#record .state").textContent,
				),
			);
			await p.page.waitForTimeout(1200);
			await p.until(() =>
				/[1-9]\d* events/.test(
					document.querySelector("#record .state").textContent,
				),
			);
			await p.page.click("text=stop and look");
			await p.until(() => window.spur.app.trace.files.length === 2);
			await p.until(() =>
				window.spur.app.trace.rows.some(
					(r) => r.file === 1 && r.kind === "cpu",
				),
			);
			assert.equal(
				await p.evaluate(() => document.getElementById("record").open),
				false,
			);
		},
	},
];
