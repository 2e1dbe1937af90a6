// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the page says when something is not as one would think: a server that does not answer, a
// file that has lost something, a filter that finds nothing, names and calls that are not there.
import {truncateSync, statSync} from "node:fs";
import {assert, at} from "./page.mjs";

const QUESTIONS = "**/api/**";

const contact = (p) => p.page.locator("#contact");

// What the browser itself prints about answers that did not come.
function mayFail(p) {
	p.errors = p.errors.filter((e) => !/Failed to load resource/.test(e));
}

// Until the server's silence is told, with nobody touching the page; then until it is over.
async function silence(p, answer, words) {
	assert.ok(await contact(p).isHidden());
	await p.page.route(QUESTIONS, answer);
	await contact(p).waitFor({state: "visible"});
	assert.match(await contact(p).innerText(), words);
	await p.page.waitForTimeout(2500);
	assert.ok(await contact(p).isVisible(), "it stays");
	await p.show(at(4.4), at(5.6)).catch(() => null);
	await p.page.unroute(QUESTIONS);
	await contact(p).waitFor({state: "hidden"});
	await p.settled();
	mayFail(p);
}

async function search(p, text) {
	await p.press("/");
	await p.page.fill("#search", text);
	await p.press("Enter");
}

async function noted(p, words) {
	await p.until(
		(source) =>
			new RegExp(source).test(document.getElementById("search-note").textContent),
		words.source,
	);
}

// Answers of the server with something in them replaced.
async function pretend(p, question, change) {
	await p.page.route(`**/api/${question}*`, async (route) => {
		const answer = await route.fetch();
		await route.fulfill({response: answer, json: change(await answer.json())});
	});
}

export default [
	{
		name: "a server that does not answer",
		async run(p) {
			p.page.setDefaultTimeout(10000);
			await silence(
				p,
				(route) => route.abort(),
				/server does not answer.*may be out of date/,
			);
			// The list and the picture are in the same place again.
			await p.until(() =>
				/sched_switch|sys_enter/.test(
					document.querySelector("#pane-events .vlist .vrow")
						.textContent,
				),
			);
		},
	},
	{
		name: "a session that is over",
		async run(p) {
			await silence(
				p,
				(route) =>
					route.fulfill({
						status: 401,
						json: {error: "nobody knows who asks"},
					}),
				/does not know this page.*spur view/,
			);
		},
	},
	{
		name: "tiles that are refused",
		async run(p) {
			const refuse = (route) =>
				route.fulfill({status: 500, json: {error: "no memory"}});
			await p.page.route("**/api/tiles*", refuse);
			await p.evaluate(
				([t0, t1]) => window.spur.app.motion.show(t0, t1),
				[at(10), at(10.01)],
			);
			await contact(p).waitFor({state: "visible"});
			assert.match(await contact(p).innerText(), /not complete.*no memory/);
			await p.page.unroute("**/api/tiles*");
			await contact(p).waitFor({state: "hidden"});
			mayFail(p);
		},
	},
	{
		name: "a file that becomes shorter",
		trace: "cut",
		async run(p, facts) {
			const asked = [];
			assert.ok(await p.page.locator("#problems").isHidden());
			const file = `${facts.directory}/cut.dat`;
			truncateSync(file, Math.floor(statSync(file).size / 2));
			p.page.on(
				"request",
				(r) => /api.events/.test(r.url()) && asked.push(r.url()),
			);
			await p.page.locator("#pane-events .vlist-body").focus();
			await p.press("End");
			await p.page.locator("#problems").waitFor({state: "visible"});
			assert.match(await p.text("#problems"), /cut\.dat/);
			await p.until(() =>
				/cannot be read/.test(
					document.getElementById("pane-events").textContent,
				),
			);
			const before = asked.length;
			await p.page.waitForTimeout(2000);
			assert.equal(asked.length, before, "it is not asked for again and again");
		},
	},
	{
		name: "a filter that never finds anything",
		async run(p) {
			await search(p, "sched_switch: nxt_pid == 101");
			await noted(p, /^0 hits — .*no field 'nxt_pid'.*always false/);
			await search(p, "sched_switch: next_pid == 101");
			await noted(p, /^\d+ hits$/);
		},
	},
	{
		name: "more hits than can be shown",
		async run(p) {
			await pretend(p, "search", (a) =>
				"hits" in a ? {...a, kept: 5, truncated: true} : a,
			);
			await search(p, "sched_switch");
			await noted(p, /^\d+ hits, only the first 5 can be shown$/);
		},
	},
	{
		name: "names of several files for SQL",
		trace: "both",
		async run(p) {
			await p.press("5");
			const schemas = p.page.locator("#pane-sql .schemas");
			await schemas.waitFor({state: "visible"});
			assert.match(
				await schemas.innerText(),
				/main is story\.dat, calls is calls\.dat/,
			);
			const text = p.page.locator("#pane-sql textarea");
			assert.match(await text.getAttribute("placeholder"), /from calls\.events/);
			await text.fill(
				"select count(*) as n, printf('%5000d', 1) as wide from calls.events",
			);
			await text.press("Control+Enter");
			await p.until(() =>
				/1 rows.*1 texts are cut off/.test(
					document.getElementById("pane-sql").textContent,
				),
			);
			await p.until(() =>
				/320/.test(document.querySelector("#pane-sql .vlist").textContent),
			);
		},
	},
	{
		name: "calls that are too deep, of a task without a name",
		trace: "odd",
		async run(p) {
			assert.match(await p.text("#problems"), /depth of 128.*<\.\.\.> 7/);
			const titles = (await p.rows()).map((r) => r.title);
			assert.ok(titles.includes("<...> 7"), String(titles));
			await p.until(() =>
				document.querySelector("#pane-events .vlist .vrow .task"),
			);
			const cell = p.page.locator("#pane-events .vlist .vrow .task").first();
			assert.equal(await cell.innerText(), "<...> 7");
			const [dot, drawn] = await p.evaluate(async () => {
				const {css} = await import("./colours.js");
				const row = window.spur.app.trace.rows.find(
					(r) => r?.kind === "task",
				);
				const shown = document.querySelector(
					"#pane-events .vlist .vrow .task",
				);
				return [shown.style.getPropertyValue("--dot"), css[row.colour]];
			});
			assert.equal(dot, drawn);
		},
	},
];
