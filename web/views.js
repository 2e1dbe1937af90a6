// SPDX-License-Identifier: GPL-2.0-or-later
//
// Saved views: the state under a name, kept by the browser for this trace, or in a file.
import {byId, el, fill, button, download} from "./dom.js";
import {baseName} from "./trace.js";

const KEPT = "spur views ";

export class Views {
	constructor(app) {
		this.app = app;
		this.dialog = byId("views");
		this.list = el("ul", {class: "views"});
		this.name = el("input", {
			placeholder: "name of this view",
			aria: {label: "name of this view"},
		});
		this.file = el("input", {
			type: "file",
			accept: ".json",
			aria: {label: "load views from a file"},
			on: {change: () => this.load()},
		});
		byId("views-body").append(
			el(
				"form",
				{class: "bar", method: "dialog", on: {submit: (e) => this.save(e)}},
				this.name,
				el("button", {class: "primary"}, "save"),
			),
			this.list,
			el(
				"div",
				{class: "bar"},
				button("copy address", () => this.copy(), {
					title: "of what is shown now; it has the whole view",
				}),
				button("save all to a file", () => this.toFile()),
				el("label", {}, "load a file ", this.file),
			),
			el(
				"p",
				{class: "dim"},
				"The browser keeps these for this trace and this address. A file, and the address " +
					"itself, which has all of what is shown, can be kept anywhere.",
			),
		);
	}

	open() {
		this.dialog.showModal();
		this.draw();
		this.name.focus();
	}

	get kept() {
		try {
			return (
				JSON.parse(localStorage.getItem(KEPT + this.app.trace.identity)) ??
				{}
			);
		} catch {
			return {};
		}
	}

	keep(views) {
		localStorage.setItem(KEPT + this.app.trace.identity, JSON.stringify(views));
		this.draw();
	}

	save(event) {
		event.preventDefault();
		const name = this.name.value.trim();
		if (!name) return;
		this.keep({...this.kept, [name]: this.app.state.toText()});
		this.name.value = "";
		this.app.announce(`Saved as ${name}.`);
	}

	draw() {
		const views = this.kept;
		const names = Object.keys(views).sort();
		fill(
			this.list,
			...names.map((name) =>
				el(
					"li",
					{},
					button(name, () => this.use(views[name]), {
						class: "link name",
					}),
					button(
						"delete",
						() => {
							delete views[name];
							this.keep(views);
						},
						{aria: {label: `delete ${name}`}},
					),
				),
			),
		);
		if (!names.length) fill(this.list, el("li", {class: "dim"}, "Nothing saved yet."));
	}

	use(text) {
		this.dialog.close();
		this.app.use(String(text));
	}

	async copy() {
		const address = location.href.split("#")[0] + "#" + this.app.state.toText();
		try {
			await navigator.clipboard.writeText(address);
			this.app.say("The address is in the clipboard.");
		} catch {
			prompt("The address of this view:", address);
		}
	}

	toFile() {
		const views = {...this.kept, "as it was": this.app.state.toText()};
		const name = baseName(this.app.trace.files[0]?.path ?? "trace");
		download(`${name}.views.json`, JSON.stringify({spur: "views", views}, null, "\t"));
	}

	async load() {
		try {
			const {spur, views} = JSON.parse(await this.file.files[0].text());
			if (spur !== "views" || typeof views !== "object")
				throw new Error("has no saved views in it");
			const texts = Object.entries(views).filter(
				([, text]) => typeof text === "string",
			);
			this.keep({...this.kept, ...Object.fromEntries(texts)});
		} catch (e) {
			this.app.say(`${this.file.files[0]?.name}: ${e.message}`, true);
		}
		this.file.value = "";
	}
}
