// SPDX-License-Identifier: GPL-2.0-or-later
//
// Following the link that spur view prints.
import {assert} from "./page.mjs";

const problem = async (p) => {
	await p.until(() => !document.getElementById("problems").hidden);
	return p.text("#problems");
};

// The browser tells of an answer that is an error, as it should.
const quiet = (p) => (p.errors = p.errors.filter((e) => !/status of 401/.test(e)));

export default [
	{
		name: "a link opens once, a tab that followed it stays",
		session: false,
		async run(p, {links, sessions}) {
			const link = links[0];
			await p.open(link);
			assert.ok(!p.page.url().includes("token"), p.page.url());
			await p.page.reload();
			await p.until(() => window.spur?.app.trace.progress === 1);
			// The same link again, in the tab that knows it and in another.
			await p.page.goto("about:blank");
			await p.open(link);
			const other = await p.page.context().newPage();
			await other.goto(link);
			await other.waitForFunction(
				() => !document.getElementById("problems").hidden,
			);
			assert.match(await other.locator("#problems").innerText(), /once.*Enter/s);
			const kept = await p.evaluate(() => [
				document.cookie,
				JSON.stringify(localStorage),
				location.href,
			]);
			assert.ok(!kept.join().includes(sessions.story), `${kept}`);
			quiet(p);
		},
	},
	{
		name: "a link brings the view that is behind it",
		session: false,
		async run(p, {links}) {
			await p.open(links[1] + "&t0=1000000&t1=2000000");
			const {t0, t1} = await p.view();
			assert.deepEqual([t0, t1], [1e6, 2e6]);
			assert.ok(!p.page.url().includes("token"), p.page.url());
		},
	},
	{
		name: "without a link the page says what to do, and takes one",
		session: false,
		async run(p, {links, urls}) {
			await p.page.goto(urls.story);
			assert.match(await problem(p), /link.*Enter/s);
			await p.evaluate((link) => (location.href = link), links[2]);
			await p.until(() => window.spur?.app.trace.progress === 1);
			assert.ok(!p.page.url().includes("token"), p.page.url());
			quiet(p);
		},
	},
	{
		name: "the address that is passed on has no secret",
		async run(p, {sessions}) {
			await p.show(1e6, 2e6);
			const told = await p.evaluate(async () => {
				const texts = [];
				navigator.clipboard.writeText = async (t) => texts.push(t);
				document.getElementById("open-views").click();
				[...document.querySelectorAll("#views button")]
					.find((b) => b.textContent === "copy address")
					.click();
				return [...texts, location.href];
			});
			assert.equal(told.length, 2);
			for (const text of told)
				assert.ok(!/token/.test(text) && !text.includes(sessions.story), text);
		},
	},
];
