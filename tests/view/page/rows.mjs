// SPDX-License-Identifier: GPL-2.0-or-later
//
// Rows and events shown, hidden, pinned, moved, grouped and folded; saved views.
import fs from "node:fs";
import {assert, at, near} from "./page.mjs";

const titles = async (p) => (await p.rows()).map((r) => r.title);

async function focusRow(p, title) {
	const {key} = await p.row(title);
	await p.evaluate((k) => window.spur.app.showRow(k, true), key);
	await p.settled();
}

export default [
	{
		name: "hide and show a row",
		async run(p) {
			await focusRow(p, "beta 101");
			await p.press("h");
			assert.ok(!(await titles(p)).includes("beta 101"));
			await p.press("v");
			await p.page.fill("#filter input[type=search]", "beta");
			await p.page.click("text=show these");
			await p.press("Escape");
			assert.ok((await titles(p)).includes("beta 101"));
		},
	},
	{
		name: "only some rows",
		async run(p) {
			await p.press("v");
			await p.page.fill("#filter input[type=search]", "gamma");
			await p.page.click("text=only these");
			await p.press("Escape");
			const left = (await titles(p)).filter((t) => / 10\d$/.test(t));
			assert.deepEqual(left, ["gamma 102"]);
			assert.match(await p.text("#open-filter"), /hidden/);
		},
	},
	{
		name: "hide events",
		async run(p) {
			await p.show(at(4.9), at(5.6));
			const tick = () => p.colour("gamma 102", "ticks", at(5) + 300, 0.9);
			const before = await tick();
			await p.press("v");
			await p.page.click("#filter .tabs >> text=Events");
			await p.page.fill("#filter input[type=search]", "sys_enter_read");
			await p.page.click("text=hide these");
			await p.press("Escape");
			assert.notDeepEqual(await tick(), before);
		},
	},
	{
		name: "pin a row",
		async run(p) {
			await focusRow(p, "gamma 102");
			await p.press("p");
			assert.equal((await titles(p))[0], "gamma 102");
			await p.page.waitForTimeout(500); // the address follows
			await p.page.reload();
			await p.until(() => window.spur?.settled);
			assert.equal(
				(await titles(p))[0],
				"gamma 102",
				"it still is after reloading",
			);
			await p.press("p");
			assert.notEqual((await titles(p))[0], "gamma 102");
		},
	},
	{
		name: "move a row",
		async run(p) {
			const order = async () => (await titles(p)).filter((t) => / 10\d$/.test(t));
			const before = await order();
			await focusRow(p, before[1]);
			await p.press("Alt+ArrowUp");
			assert.deepEqual(await order(), [before[1], before[0], ...before.slice(2)]);
			await p.press("Alt+ArrowDown");
			assert.deepEqual(await order(), before);
		},
	},
	{
		name: "group by process",
		trace: "processes",
		async run(p) {
			await p.press("g");
			const items = await p.rows();
			const list = items.map((r) =>
				r.type === "group" ? `(${r.title})` : r.title,
			);
			assert.deepEqual(list.slice(list.indexOf("(server 500)")), [
				"(server 500)",
				"server 500",
				"worker 501",
				"worker 502",
				"(Other tasks)",
				"lonely 700",
			]);
			const head = items.find(
				(r) => r.type === "group" && r.title === "server 500",
			);
			await p.page.mouse.click(60, head.y + 10);
			await p.settled();
			assert.ok(!(await titles(p)).includes("worker 501"), "it is folded");
			assert.ok((await titles(p)).includes("lonely 700"));
			await p.page.mouse.click(60, head.y + 10);
			await p.settled();
			await p.click("worker 501", "main", at(1.7));
			assert.match(await p.text("#details"), /process\s+server 500/);
			await p.press("g");
			assert.ok((await titles(p)).includes("Tasks"));
		},
	},
	{
		name: "a trace that tells of no processes says so",
		async run(p) {
			await p.press("g");
			assert.match(await p.text("#message"), /task_newtask/);
			assert.ok((await titles(p)).includes("Tasks"));
		},
	},
	{
		name: "fold a group and a row",
		async run(p) {
			await focusRow(p, "CPU 0");
			const lanes = async () => (await p.row("CPU 0")).lanes.length;
			const before = await lanes();
			await p.press("e");
			assert.ok((await lanes()) < before);
			const group = (await p.rows()).find((r) => r.title === "Tasks");
			await p.page.mouse.click(60, group.y + 10);
			await p.settled();
			assert.ok(!(await titles(p)).includes("alpha 100"));
		},
	},
	{
		name: "a view is in the address",
		async run(p) {
			await p.show(at(2), at(7));
			await p.click("gamma 102", "main", at(5.2));
			await p.evaluate(
				(t) =>
					window.spur.app.state.set({
						a: t,
						b: t + 1000,
						filter: "irq_handler_entry",
						sort: "name",
					}),
				at(3),
			);
			await p.page.waitForTimeout(600);
			const before = await p.evaluate(() => window.spur.state);
			await p.page.reload();
			await p.until(() => window.spur?.settled && window.spur.picked);
			assert.equal(await p.evaluate(() => window.spur.state), before);
			assert.equal((await p.picked()).row, "gamma 102");
			await p.until(
				() =>
					document.getElementById("search-note").textContent ===
					"1 hit",
			);
		},
	},
	{
		name: "views are saved and opened",
		async run(p, facts) {
			await p.show(at(2), at(4));
			await p.press("V");
			await p.page.fill("#views input:not([type=file])", "my view");
			await p.press("Enter", "Escape");
			await p.press("0");
			await p.page.waitForTimeout(400);
			await p.press("V");
			await p.page.click("#views .name >> text=my view");
			await p.settled();
			near((await p.view()).t0, at(2), 1, "from the list");
			await p.press("V");
			const [file] = await Promise.all([
				p.page.waitForEvent("download"),
				p.page.click("text=save all to a file"),
			]);
			const path = `${facts.directory}/views.json`;
			await file.saveAs(path);
			assert.ok("my view" in JSON.parse(fs.readFileSync(path, "utf8")).views);
			await p.page.click("#views [aria-label='delete my view']");
			assert.equal(await p.page.locator("#views .name").count(), 0);
			await p.page.setInputFiles("#views input[type=file]", path);
			await p.page.waitForSelector("#views .name >> text=my view");
		},
	},
	{
		name: "an address from elsewhere does no harm",
		async run(p) {
			await p.evaluate(
				() =>
					(location.hash =
						"#t0=x&t1=-&slice=,,,&area=1&pins=nothing,<b>&folds=a>b>c&tab=nope&sort=toString&event=1e99"),
			);
			await p.settled();
			assert.ok((await titles(p)).includes("CPU 0"));
		},
	},
];
