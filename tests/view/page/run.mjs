// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs the cases of the page's test in Chromium: node run.mjs FACTS, which page.py does. Prints a
// line per case, with tabs between: ok NAME, FAIL NAME WHY, skip NAME WHY.
//
// A case is {name, trace, run(page, facts)}; it gets a page of its own with that trace in it, and
// throws when something is not as it should be. With session: false nothing is opened yet, and the
// browser does not know the server's secret. Errors of the page's own script fail every case.
import {createRequire} from "node:module";
import {Page, Skip} from "./page.mjs";
import picture from "./picture.mjs";
import moving from "./moving.mjs";
import selecting from "./selecting.mjs";
import panes from "./panes.mjs";
import rows from "./rows.mjs";
import links from "./links.mjs";
import telling from "./telling.mjs";

const CASES = [...links, ...picture, ...moving, ...selecting, ...rows, ...panes, ...telling];

const facts = JSON.parse(process.argv[2]);
const {chromium} = createRequire(facts.playwright + "/")("playwright-core");

function print(word, name, note = "") {
	console.log([word, name, note.replace(/\s+/g, " ")].join("\t"));
}

async function one(browser, {name, trace = "story", run, options, session = true}) {
	const context = await browser.newContext({
		viewport: {width: 1400, height: 900},
		...options,
	});
	if (session)
		await context.addInitScript(
			(secret) => sessionStorage.setItem("spur session", secret),
			facts.sessions[trace],
		);
	const page = new Page(await context.newPage(), facts);
	try {
		if (session) await page.open(facts.urls[trace]);
		await run(page, facts);
		page.mustBeQuiet();
		print("ok", name);
	} catch (e) {
		if (e instanceof Skip) print("skip", name, e.message);
		else
			print(
				"FAIL",
				name,
				`${e.message} ${(e.stack ?? "").split("\n").filter((l) => /page\//.test(l))[0] ?? ""}`,
			);
		if (facts.pictures)
			await page.page.screenshot({
				path: `${facts.pictures}/${name.replace(/\W+/g, "-")}.png`,
			});
	}
	await context.close();
}

const wanted = process.env.SPUR_PAGE_CASES; // a piece of the names of those to run
const browser = await chromium.launch({
	executablePath: "/usr/bin/chromium",
	args: ["--no-sandbox"],
});
for (const c of CASES) if (!wanted || c.name.includes(wanted)) await one(browser, c);
await browser.close();
