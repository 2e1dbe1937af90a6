// SPDX-License-Identifier: GPL-2.0-or-later
//
// Slices, records, who woke whom, areas, and all of it by keyboard.
import {assert, at, near, MS} from "./page.mjs";

export default [
	{
		name: "a click selects a slice",
		async run(p) {
			await p.show(at(0.9), at(9.6));
			await p.click("gamma 102", "main", at(5.2));
			const picked = await p.picked();
			assert.equal(picked.row, "gamma 102");
			near(picked.start, at(4.5), 0, "its begin");
			near(picked.duration, 2.5 * MS, 0, "how long it is");
			assert.match(await p.text("#details"), /on CPU 0/);
			assert.match(await p.text("#details"), /2\.500 ms/);
			await p.click("CPU 0", "main", at(3.7));
			assert.equal(await p.picked(), null);
		},
	},
	{
		name: "following a chain of wakeups",
		async run(p) {
			await p.show(at(0.9), at(9.6));
			await p.click("gamma 102", "main", at(5.2));
			assert.match(await p.text("#details .waker"), /woken by beta 101/);
			await p.page.click("#details .waker button");
			await p.until(() => window.spur.picked.row.title === "beta 101");
			near((await p.picked()).start, at(2.5), 0, "when beta woke gamma");
			assert.match(
				await p.text("#details .waker"),
				/woken by alpha 100.*500\.0 µs/s,
			);
			await p.press("u");
			await p.until(() => window.spur.picked.row.title === "alpha 100");
			near((await p.picked()).start, 0, 0, "when alpha woke beta");
		},
	},
	{
		name: "why a task waited",
		async run(p) {
			await p.show(at(0.9), at(9.6));
			await p.click("gamma 102", "main", at(4.2));
			await p.until(() => window.spur.picked?.why);
			assert.match(
				await p.text("#details .why"),
				/gamma-102 could run but had no CPU for 1\.000 ms.*woken by beta-101 on CPU 1.*CPU 0 had:\n *100\.0 % +1\.000 ms +idle/s,
			);
			await p.click("beta 101", "main", at(5));
			await p.until(() => window.spur.picked?.row.title === "beta 101" && window.spur.picked.why);
			assert.match(
				await p.text("#details .why"),
				/beta-101 was blocked for 2\.200 ms.*woken by an interrupt on CPU 0/s,
			);
			await p.click("gamma 102", "main", at(5.2));
			await p.until(() => window.spur.picked?.row.title === "gamma 102");
			assert.equal(await p.page.$("#details .why"), null);
		},
	},
	{
		name: "the critical path",
		async run(p) {
			await p.show(at(0.9), at(9.6));
			await p.click("gamma 102", "main", at(5.2));
			await p.press("c");
			await p.until(() => window.spur.chain?.length > 1);
			const rows = await p.evaluate(() =>
				window.spur.chain.map(
					(s) => window.spur.app.trace.rows[s.row].title,
				),
			);
			assert.ok(
				rows.includes("gamma 102") && rows.includes("beta 101"),
				String(rows),
			);
			assert.match(await p.text("#details .chain"), /beta 101/);
		},
	},
	{
		name: "the critical path from a CPU",
		async run(p) {
			await p.show(at(0.9), at(9.6));
			await p.click("CPU 0", "main", at(5.8));
			assert.equal((await p.picked()).row, "CPU 0");
			await p.press("c");
			await p.until(() => window.spur.chain?.length > 1);
			assert.match(await p.text("#details .chain"), /gamma 102.*beta 101/s);
			await p.evaluate(() => window.spur.app.pick.clear());
			await p.click("CPU 0", "main", at(5.8));
			await p.page.click("#details button:has-text('critical path')");
			await p.until(() => window.spur.chain?.length > 1);
		},
	},
	{
		name: "next and previous",
		async run(p) {
			await p.show(at(0.9), at(9.6));
			await p.click("beta 101", "main", at(3.2));
			await p.press(".");
			await p.until(() => window.spur.picked.slice.start > 2e6);
			const next = await p.picked();
			assert.equal(next.row, "beta 101");
			assert.ok(next.start > at(2.5));
			await p.press(",");
			await p.until(
				(start) => window.spur.picked.slice.start < start,
				next.start,
			);
			near((await p.picked()).start, at(2.5), 0, "back where it was");
			await p.press("f");
			await p.page.waitForTimeout(400);
			const {t0, t1} = await p.view();
			assert.ok(t1 - t0 < 4 * MS && t0 < at(2.5) && t1 > at(4), "f zooms to it");
		},
	},
	{
		name: "a click on a tick selects the record",
		async run(p) {
			await p.show(at(5.9), at(6.3));
			await p.click("CPU 0", "ticks", at(6));
			await p.until(() => window.spur.picked?.kind === "event");
			const picked = await p.picked();
			assert.equal(picked.event, "irq_handler_entry");
			near(picked.ts, at(6), 0, "its time");
			assert.match(await p.text("#details"), /eth0/);
			await p.until(() =>
				document
					.querySelector(".vrow.picked")
					?.textContent.includes("irq_handler_entry"),
			);
		},
	},
	{
		name: "interrupts and system calls are slices",
		async run(p) {
			await p.show(at(4.4), at(7.1));
			await p.click("CPU 0", "irq", at(6.05));
			assert.match(await p.text("#details"), /eth0/);
			near((await p.picked()).duration, 0.1 * MS, 0, "the interrupt");
			await p.click("gamma 102", "syscall", at(5.2));
			assert.match(await p.text("#details"), /read/);
			near((await p.picked()).duration, 0.5 * MS, 0, "the system call");
		},
	},
	{
		name: "an area is added up",
		async run(p) {
			await p.show(at(0.9), at(9.6));
			const box = await p.page.locator("#overlay").boundingBox();
			const x = (ms) => p.evaluate((t) => window.spur.x(t), at(ms));
			await p.page.mouse.move(await x(1), box.y + 20);
			await p.page.mouse.down();
			await p.page.mouse.move(await x(9.4), box.y + 20, {steps: 5});
			await p.page.mouse.up();
			await p.until(
				() =>
					document.querySelectorAll("#pane-sum .vlist .vrow").length >
					3,
			);
			const lines = await p.page
				.locator("#pane-sum .vlist .vrow:visible")
				.allInnerTexts();
			const alpha = lines.find((l) => l.startsWith("alpha 100"));
			assert.match(
				alpha,
				/2\.000 ms|1\.99\d ms/,
				"alpha ran for two milliseconds",
			);
			const gamma = lines.find((l) => l.startsWith("gamma 102"));
			assert.match(gamma, /2\.600 ms/);
			assert.match(gamma, /1\.000 ms/, "and waited for one to run");
		},
	},
	{
		name: "an area of some rows",
		async run(p) {
			await p.show(at(0.9), at(9.6));
			const a = await p.place("beta 101", "main", at(2)),
				b = await p.place("beta 101", "main", at(7.5));
			await p.page.keyboard.down("Shift");
			await p.page.mouse.move(a.x, a.y - 4);
			await p.page.mouse.down();
			await p.page.mouse.move(b.x, b.y + 4, {steps: 5});
			await p.page.mouse.up();
			await p.page.keyboard.up("Shift");
			const {rows} = await p.evaluate(() => window.spur.app.state.area);
			assert.deepEqual(rows, ["0.0.t101"]);
			await p.until(() =>
				/in 1 row/.test(
					document.querySelector("#pane-sum .bar").textContent,
				),
			);
		},
	},
	{
		name: "by keyboard alone",
		async run(p) {
			await p.show(at(0.9), at(9.6));
			await p.evaluate(() => document.activeElement?.blur());
			for (let i = 0; i < 40; i++) {
				if (
					await p.evaluate(
						() => document.activeElement?.id === "overlay",
					)
				)
					break;
				await p.page.keyboard.press("Tab");
			}
			assert.equal(
				await p.evaluate(() => document.activeElement.id),
				"overlay",
				"Tab comes to the picture",
			);
			await p.press("ArrowDown", "ArrowDown");
			const title = await p.evaluate(
				() =>
					window.spur.app.layout.byKey.get(window.spur.app.state.row)
						.title,
			);
			assert.equal(title, "CPU 0");
			for (let i = 0; i < 60 && !(await p.picked()); i++)
				await p.press("ArrowRight", "Enter");
			assert.ok(await p.picked(), "Enter selects");
			await p.until(() =>
				/CPU 0|alpha|gamma|evil/.test(
					document.getElementById("live").textContent,
				),
			);
			const before = await p.evaluate(() => window.spur.app.state.cursor);
			await p.press("Shift+ArrowRight", "Shift+ArrowRight");
			const area = await p.evaluate(() => window.spur.app.state.area);
			assert.ok(area && area.t1 > before, "Shift and an arrow select");
			await p.press("m", "ArrowRight", "M");
			assert.match(await p.text("#markers"), /B − A/);
			await p.press("?");
			assert.match(await p.text("#help"), /zoom in/);
			await p.press("Escape");
			assert.equal(
				await p.evaluate(() => document.getElementById("help").open),
				false,
			);
		},
	},
	{
		name: "rows of an area by keyboard",
		async run(p) {
			await p.evaluate(() => window.spur.app.focusPicture());
			const titles = (await p.rows()).map((r) => r.title);
			const key = (await p.row("alpha 100")).key;
			await p.evaluate((k) => window.spur.app.showRow(k, true), key);
			await p.press("Shift+ArrowRight", "Shift+ArrowRight");
			const rows = () =>
				p.evaluate(() => {
					const {app} = window.spur;
					const title = (k) => app.trace.byKey.get(k).title;
					return app.state.area.rows.map(title);
				});
			assert.deepEqual(await rows(), ["alpha 100"]);
			await p.press("Shift+ArrowDown");
			const next = titles[titles.indexOf("alpha 100") + 1];
			assert.deepEqual(await rows(), ["alpha 100", next]);
		},
	},
	{
		name: "to a row by its name, by keyboard",
		async run(p) {
			await p.press("v");
			await p.page.keyboard.type("gamma");
			await p.page.locator("#filter .vlist-body").focus();
			await p.press("ArrowDown", "Shift+Enter");
			const {key} = await p.row("gamma 102");
			assert.equal(await p.evaluate(() => window.spur.app.state.row), key);
			assert.ok(!(await p.page.locator("#filter").isVisible()));
		},
	},
	{
		name: "a hit out of sight is brought into it",
		trace: "crowd",
		async run(p) {
			const wanted = "task1777 2777";
			assert.ok(!(await p.rows()).some((r) => r.title === wanted));
			await p.evaluate(() => window.spur.app.scrollTo(20000));
			await p.settled();
			await p.press("/");
			await p.page.fill("#search", "sched_switch:prev_pid==2777");
			await p.press("Enter");
			await p.until(() =>
				/hits$/.test(document.getElementById("search-note").textContent),
			);
			await p.page.click("#search-next");
			await p.until(() => window.spur.picked?.kind === "event");
			await p.settled();
			assert.ok((await p.rows()).some((r) => r.title === wanted));
		},
	},
	{
		name: "every control has a name",
		async run(p) {
			const nameless = await p.evaluate(() =>
				[
					...document.querySelectorAll(
						"button, input, select, textarea, canvas, [role]",
					),
				]
					.filter(
						(e) =>
							!e.closest(".vrow") &&
							e.getAttribute("aria-hidden") !== "true",
					)
					.filter(
						(e) =>
							!(
								e.getAttribute("aria-label") ||
								e.getAttribute("aria-labelledby") ||
								e.textContent.trim() ||
								e.closest("label") ||
								[
									"presentation",
									"status",
									"alert",
								].includes(e.getAttribute("role"))
							),
					)
					.map((e) => e.outerHTML.slice(0, 80)),
			);
			assert.deepEqual(nameless, []);
		},
	},
];
