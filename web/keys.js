// SPDX-License-Identifier: GPL-2.0-or-later
//
// The keyboard. One table says what every key does; the overlay of help is made from it.
//
// W, A, S and D act as long as they are held: each frame moves the view a little.

const PER_SECOND = 1.2; // of the view's width
const ZOOM_PER_SECOND = 6;

// held: f(app, seconds) per frame; do: f(app) once.
export const KEYS = [
	{group: "Move"},
	{key: "w", says: "zoom in", held: (app, s) => app.zoomHere(ZOOM_PER_SECOND ** -s)},
	{key: "s", says: "zoom out", held: (app, s) => app.zoomHere(ZOOM_PER_SECOND ** s)},
	{key: "a", says: "to the left", held: (app, s) => app.panBy(-PER_SECOND * s)},
	{key: "d", says: "to the right", held: (app, s) => app.panBy(PER_SECOND * s)},
	{key: "0", says: "the whole trace", do: (app) => app.motion.fit()},
	{key: "f", says: "zoom to what is selected", do: (app) => app.pick.zoomTo()},
	{
		key: "z",
		says: "zoom to the selected area, or between the markers",
		do: (app) => app.zoomToArea(),
	},
	{key: "[", says: "back", do: (app) => app.motion.go(-1)},
	{key: "]", says: "forward", do: (app) => app.motion.go(1)},
	{key: "PageUp", says: "rows up", do: (app) => app.scrollBy(-0.8)},
	{key: "PageDown", says: "rows down", do: (app) => app.scrollBy(0.8)},

	{group: "Cursor"},
	{key: "ArrowUp", says: "row above", do: (app) => app.moveFocus(-1)},
	{key: "ArrowDown", says: "row below", do: (app) => app.moveFocus(1)},
	{key: "Home", says: "first row", do: (app) => app.moveFocus(-Infinity)},
	{key: "End", says: "last row", do: (app) => app.moveFocus(Infinity)},
	{key: "ArrowLeft", says: "cursor to the left", do: (app) => app.moveCursor(-1, false)},
	{key: "ArrowRight", says: "cursor to the right", do: (app) => app.moveCursor(1, false)},
	{key: "Shift+ArrowLeft", says: "select to the left", do: (app) => app.moveCursor(-1, true)},
	{
		key: "Shift+ArrowRight",
		says: "select to the right",
		do: (app) => app.moveCursor(1, true),
	},
	{
		key: "Shift+ArrowUp",
		says: "select the row above, too",
		do: (app) => app.extendRows(-1),
	},
	{
		key: "Shift+ArrowDown",
		says: "select the row below, too",
		do: (app) => app.extendRows(1),
	},
	{key: "Enter", says: "select what is at the cursor", do: (app) => app.atCursor()},
	{key: "i", says: "say what is at the cursor", do: (app) => app.describeCursor()},

	{group: "Slices and events"},
	{key: ".", says: "next slice or event", do: (app) => app.pick.step(1)},
	{key: ",", says: "previous slice or event", do: (app) => app.pick.step(-1)},
	{key: "u", says: "who woke it", do: (app) => app.pick.waker()},
	{key: "c", says: "critical path", do: (app) => app.pick.chain()},
	{key: "Escape", says: "select nothing, back to the picture", do: (app) => app.clear()},

	{group: "Markers"},
	{key: "m", says: "marker A here", do: (app) => app.mark("a")},
	{key: "M", says: "marker B here", do: (app) => app.mark("b")},
	{key: "x", says: "no markers", do: (app) => app.state.set({a: null, b: null})},

	{group: "Rows"},
	{key: "e", says: "fold or unfold the row", do: (app) => app.foldFocus()},
	{key: "E", says: "fold or unfold all rows", do: (app) => app.foldAll()},
	{key: "p", says: "pin the row", do: (app) => app.pinRow(app.state.row)},
	{key: "h", says: "hide the row", do: (app) => app.hideRow(app.state.row)},
	{key: "Alt+ArrowUp", says: "move the row up", do: (app) => app.moveFocused(-1)},
	{key: "Alt+ArrowDown", says: "move the row down", do: (app) => app.moveFocused(1)},
	{key: "g", says: "group by process", do: (app) => app.groupByProcess()},
	{key: "v", says: "show and hide events, tasks, CPUs", do: (app) => app.open("filter")},

	{group: "Search"},
	{key: "/", says: "search", do: (app) => app.search.focus()},
	{key: "n", says: "next hit", do: (app) => app.search.step(1)},
	{key: "N", says: "previous hit", do: (app) => app.search.step(-1)},

	{group: "Panes"},
	{key: "1", says: "events", do: (app) => app.panes.show("events")},
	{key: "2", says: "selection", do: (app) => app.panes.show("sum")},
	{key: "3", says: "histogram", do: (app) => app.panes.show("hist")},
	{key: "4", says: "flame graph", do: (app) => app.panes.show("flame")},
	{key: "5", says: "SQL", do: (app) => app.panes.show("sql")},
	{key: "b", says: "close or open the pane", do: (app) => app.panes.toggle()},
	{key: "V", says: "saved views", do: (app) => app.open("views")},
	{key: "R", says: "record", do: (app) => app.open("record")},
	{key: "t", says: "dark or light", do: (app) => app.toggleTheme()},
	{key: "?", says: "this list", do: (app) => app.open("help")},
];

const TABLE = new Map(KEYS.filter((k) => k.key).map((k) => [k.key, k]));

// Shift is said only with keys that have no capital.
function nameOf(event) {
	const named = event.key.length > 1;
	return (event.altKey ? "Alt+" : "") + (event.shiftKey && named ? "Shift+" : "") + event.key;
}

// Keys that are typed into a field, or that work a button, are not ours.
function isTyping(event) {
	const e = event.target;
	if (e.closest?.("dialog")) return true;
	if (/^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName)) return true;
	const moves = /^(Enter|Arrow|Home|End|Page)/.test(event.key);
	return moves && e.id !== "overlay" && e !== document.body;
}

export class Keys {
	constructor(app) {
		this.app = app;
		this.held = new Map();
		document.addEventListener("keydown", (e) => this.down(e));
		document.addEventListener("keyup", (e) => this.held.delete(e.key.toLowerCase()));
		window.addEventListener("blur", () => this.held.clear());
	}

	down(event) {
		if (event.ctrlKey || event.metaKey || isTyping(event)) return;
		const k = TABLE.get(nameOf(event));
		if (!k) return;
		event.preventDefault();
		this.app.byKeyboard = !k.held;
		if (!k.held) return void k.do(this.app);
		if (!this.held.size) {
			this.last = performance.now();
			requestAnimationFrame((now) => this.frame(now));
		}
		// A short press must move something even when no frame falls into it.
		if (!this.held.has(k.key)) k.held(this.app, 0.05);
		this.held.set(k.key, k);
	}

	frame(now) {
		const seconds = Math.min(0.1, Math.max(0, now - this.last) / 1000);
		this.last = now;
		for (const k of this.held.values()) k.held(this.app, seconds);
		if (this.held.size) requestAnimationFrame((t) => this.frame(t));
	}
}
