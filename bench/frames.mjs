// SPDX-License-Identifier: GPL-2.0-or-later
//
// How long frames of the viewer's page take: node frames.mjs URL PLAYWRIGHT ROWS, which view.bench
// does. Keys are held down to move to the right, into the trace, to the left and out again, with
// at least so many rows in sight. Prints an object with times in milliseconds:
//
//	draw     of a frame: from the call of the browser until the picture, what is selected and
//	         marked are drawn, and a pixel was read back, before which all of them must be there
//	apart    from one frame to the next; a browser without a screen makes 60 a second at most
//	long     tasks of 50 ms or more, as the browser counts them
import {createRequire} from "node:module";

const [url, playwright, least] = process.argv.slice(2);
const {chromium} = createRequire(playwright + "/")("playwright-core");
const HOLD_MS = 1500;
const SIZE = {width: 1600, height: 1600};

const browser = await chromium.launch({
	executablePath: "/usr/bin/chromium",
	args: ["--no-sandbox"],
});
const page = await browser.newPage({viewport: SIZE});
await page.goto(url);
await page.waitForFunction(() => window.spur?.app.trace.progress === 1);
await page.keyboard.press("b"); // the pane is closed: there is more room
await page.keyboard.press("PageDown");
await page.waitForTimeout(500);
await page.waitForFunction(() => window.spur.settled);

const rows = await page.evaluate(() => window.spur.rows.filter((r) => r.type === "row").length);
if (rows < Number(least)) throw new Error(`only ${rows} rows are in sight`);

await page.evaluate(() => {
	const {picture} = window.spur.app;
	const measured = (window.measured = {draw: [], apart: [], long: 0});
	const draw = picture.drawRows.bind(picture);
	picture.drawRows = () => {
		draw();
		picture.ctx.getImageData(0, 0, 1, 1);
	};
	picture.note = (ms) => measured.draw.push(ms);
	new PerformanceObserver((list) => (measured.long += list.getEntries().length)).observe({
		entryTypes: ["longtask"],
	});
	let last = 0;
	const tick = (now) => {
		if (last && window.moving) measured.apart.push(now - last);
		last = now;
		requestAnimationFrame(tick);
	};
	requestAnimationFrame(tick);
});
await page.mouse.move(SIZE.width * 0.6, SIZE.height / 2);
for (const key of ["w", "d", "w", "a", "s", "d", "s"]) {
	await page.keyboard.down(key);
	await page.evaluate(() => (window.moving = true));
	await page.waitForTimeout(HOLD_MS);
	await page.evaluate(() => (window.moving = false));
	await page.keyboard.up(key);
}
const {draw, apart, long} = await page.evaluate(() => window.measured);
await browser.close();

function part(list, q) {
	const sorted = [...list].sort((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
}

console.log(
	JSON.stringify({
		rows,
		size: `${SIZE.width} x ${SIZE.height}`,
		frames: draw.length,
		draw: part(draw, 0.5),
		draw99: part(draw, 0.99),
		longest: part(draw, 1),
		apart: part(apart, 0.5),
		apart99: part(apart, 0.99),
		long,
	}),
);
