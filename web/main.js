// SPDX-License-Identifier: GPL-2.0-or-later
//
// The start: makes the parts, connects the buttons, and asks for the trace.
import {enter} from "./api.js";
import {App} from "./app.js";
import {byId, el, fill, grouped} from "./dom.js";
import {Details} from "./details.js";
import {embedded} from "./embedded.js";
import {EventList} from "./list.js";
import {Filter} from "./filter.js";
import {Flame} from "./flame.js";
import {openHelp} from "./help.js";
import {Histogram} from "./hist.js";
import {Input} from "./input.js";
import {inspect} from "./inspect.js";
import {Keys} from "./keys.js";
import {Panes} from "./panes.js";
import {Record} from "./record.js";
import {Search} from "./search.js";
import {Sql} from "./sql.js";
import {Sums} from "./select.js";
import {Views} from "./views.js";
import {spreadColours} from "./colours.js";
import {followTheme, toggleTheme} from "./theme.js";
import {keepInAddress} from "./state.js";
import {setClock, spanText} from "./time.js";
import {baseName, plain} from "./trace.js";

const app = new App();

function redrawAll() {
	app.picture.redraw();
	app.overview.redraw();
	Object.values(app.panes?.panes ?? {}).forEach((p) => p.draw?.());
}

function makeParts() {
	app.panes = new Panes(app);
	app.search = new Search(app);
	app.list = new EventList(app, app.panes.host("events"));
	app.panes.panes = {
		events: app.list,
		sum: new Sums(app, app.panes.host("sum")),
		hist: new Histogram(app, app.panes.host("hist")),
		flame: new Flame(app, app.panes.host("flame")),
		sql: new Sql(app, app.panes.host("sql")),
	};
	app.details = new Details(app, byId("details"));
	const filter = new Filter(app),
		views = new Views(app),
		record = new Record(app);
	app.dialogs = {
		help: () => openHelp(app),
		filter: () => filter.open(),
		views: () => views.open(),
		record: () => record.open(),
	};
	app.toggleTheme = () => toggleTheme(redrawAll);
	app.areaDone = () => app.panes.show("sum");
	app.input = new Input(app);
	app.keys = new Keys(app);
}

// What the buttons of the head do.
const BUTTONS = {
	"go-back": () => app.motion.go(-1),
	"go-forward": () => app.motion.go(1),
	"zoom-in": () => app.zoomHere(0.5),
	"zoom-out": () => app.zoomHere(2),
	"zoom-fit": () => app.motion.fit(),
	"zoom-area": () => app.zoomToArea(),
	"open-filter": () => app.open("filter"),
	"open-views": () => app.open("views"),
	"open-record": () => app.open("record"),
	"open-help": () => app.open("help"),
	"toggle-theme": () => app.toggleTheme(),
};

function connect() {
	for (const [id, f] of Object.entries(BUTTONS)) byId(id).addEventListener("click", f);
	for (const dialog of document.querySelectorAll("dialog"))
		dialog.querySelector(".close").addEventListener("click", () => dialog.close());
	app.motion.onPlaces = () => {
		byId("go-back").disabled = !app.motion.canGo(-1);
		byId("go-forward").disabled = !app.motion.canGo(1);
	};
	app.motion.onPlaces();
	app.state.on("a b", showMarkers);
	app.state.on("clock", () => {
		setClock(app.state.clock);
		redrawAll();
	});
	app.state.on("hideRows hideEvents", showHidden);
	window.addEventListener("resize", () => app.panes.apply());
	window.addEventListener("hashchange", () => app.pick.restore());
}

function showMarkers() {
	const {a, b} = app.state;
	byId("markers").textContent = a !== null && b !== null ? `B − A = ${spanText(b - a)}` : "";
}

function showHidden() {
	const n = app.state.hideRows.length + app.state.hideEvents.length;
	byId("open-filter").textContent = n ? `Show (${n} hidden)` : "Show";
}

// A page that was saved has no server: what needs one is switched off.
function withoutServer() {
	byId("search").placeholder = "a saved page has no search";
	for (const id of ["search", "search-how", "search-prev", "search-next"])
		byId(id).disabled = true;
	for (const name of ["sum", "hist", "flame", "sql"]) {
		app.panes.tabs[name].disabled = true;
		app.panes.tabs[name].title = "not in a saved page: open the trace with spur view";
	}
}

// What is known of the trace, in the head of the page.
function showTrace() {
	const {trace} = app;
	const names = trace.files.map((f) => plain(baseName(f.path)));
	const records = trace.files.reduce((n, f) => n + (f.events ?? 0), 0);
	document.title = `${names.join(", ")} — spur`;
	fill(byId("trace-name"), names.join(", "));
	byId("trace-name").title = trace.files.map((f) => `${f.path} ${f.kernel ?? ""}`).join("\n");
	const facts = `${grouped(records)} events, ${spanText(trace.duration)}`;
	fill(byId("trace-facts"), embedded ? facts + ", saved" : facts);
	byId("progress").hidden = trace.progress >= 1;
	byId("progress").value = trace.progress;
	byId("open-record").hidden = Boolean(embedded);
	byId("open-record").title = trace.canRecord
		? "record (R)"
		: "recording is off; spur view --record switches it on";
	const {problems} = trace;
	fill(byId("problems"), ...problems.map((text) => el("p", {}, text)));
	byId("problems").hidden = !problems.length;
	byId("empty").hidden = trace.rows.length > 0 || trace.progress < 1;
}

// Times are relative to the first event; a file that was added may have an earlier one.
function shiftTimes(before) {
	const by = Number(BigInt(before) - BigInt(app.trace.origin));
	const {state} = app;
	const moved = {};
	for (const name of ["t0", "t1", "a", "b", "cursor"])
		if (state[name] !== null) moved[name] = state[name] + by;
	if (state.area)
		moved.area = {...state.area, t0: state.area.t0 + by, t1: state.area.t1 + by};
	app.tiles.rows.clear();
	state.set({...moved, slice: null, event: null});
}

// Those that ran longest look different from each other.
function colourTasks() {
	const tasks = app.trace.rows.filter((r) => r?.kind === "task");
	spreadColours(
		tasks.sort((a, b) => b.busy - a.busy || a.number - b.number).map((r) => r.label),
	);
	for (const r of tasks) r.colour = undefined;
}

function traceChanged(origin) {
	if (origin.known && origin.known !== app.trace.origin) shiftTimes(origin.known);
	origin.known = app.trace.origin;
	if (app.trace.progress === 1) colourTasks();
	app.picture.newRules();
	app.relayout();
	app.overview.redraw();
	app.list.grown(app.trace.progress === 1);
	showTrace();
}

// What keeps the page from showing anything stays in sight.
function showProblem(error) {
	fill(byId("problems"), el("p", {}, error.message));
	byId("problems").hidden = false;
}

// A link that is put into the address of a page that is there already only changes what is behind
// the '#'.
function followLinks() {
	window.addEventListener("hashchange", () => {
		enter().then((entered) => entered && location.reload(), showProblem);
	});
}

async function start() {
	makeParts();
	connect();
	followTheme(redrawAll);
	if (!embedded) followLinks();
	const entered = embedded ? null : enter();
	app.state.fromText(location.hash.slice(1) || (embedded?.state ?? ""));
	if (embedded) withoutServer();
	keepInAddress(app.state);
	app.panes.apply();
	const origin = {known: null};
	app.trace.onChange(() => traceChanged(origin));
	try {
		await entered;
		await app.trace.load();
		app.motion.remember();
		app.pick.restore();
		app.search.start();
	} catch (e) {
		showProblem(e);
	}
}

window.spur = inspect(app);
start();
