// SPDX-License-Identifier: GPL-2.0-or-later
//
// A table that can be sorted by a click on a column, of any length: rows are elements only in
// sight.
import {el, fill} from "./dom.js";
import {VList} from "./vlist.js";

export class Table {
	// choose(row): somebody clicked one.
	constructor(host, label, choose) {
		this.head = el("div", {class: "vrow head table-row", role: "row"});
		host.append(this.head);
		this.columns = [];
		this.rows = [];
		this.list = new VList(host, {
			label,
			show: (e, i) => this.show(e, i),
			choose: (i) => choose(this.rows[i]),
		});
	}

	// columns: [{title, says?, text(row), value?(row) to sort by, wide?, number?, link?}]
	set(columns, rows, sort = null) {
		this.columns = columns;
		this.rows = [...rows];
		this.sort = sort;
		for (const row of this.list.pool) ((row.cells = null), row.replaceChildren());
		this.widths = columns
			.map((c) => (c.wide ? "minmax(10em, 3fr)" : "minmax(5em, 1fr)"))
			.join(" ");
		this.head.style.gridTemplateColumns = this.widths;
		this.order();
	}

	order() {
		const c = this.sort && this.columns[this.sort.column];
		if (c) {
			const value = c.value ?? c.text;
			const sign = this.sort.down ? -1 : 1;
			this.rows.sort((a, b) => sign * compare(value(a), value(b)));
		}
		fill(this.head, ...this.columns.map((col, i) => this.title(col, i)));
		this.list.active = -1;
		this.list.setTotal(this.rows.length);
		this.list.refresh();
	}

	title(col, i) {
		const mine = this.sort?.column === i;
		const arrow = mine ? (this.sort.down ? " ▾" : " ▴") : "";
		return el(
			"button",
			{
				type: "button",
				class: col.number ? "number" : "",
				title: col.says ?? "",
				role: "columnheader",
				aria: {
					sort: mine
						? this.sort.down
							? "descending"
							: "ascending"
						: "none",
				},
				on: {click: () => this.sortBy(i)},
			},
			col.title + arrow,
		);
	}

	sortBy(i) {
		const down =
			this.sort?.column === i ? !this.sort.down : Boolean(this.columns[i].number);
		this.sort = {column: i, down};
		this.order();
	}

	show(e, index) {
		if (!e.cells) {
			e.classList.add("table-row");
			e.style.gridTemplateColumns = this.widths;
			e.cells = this.columns.map((c) =>
				el("span", {class: c.number ? "number" : c.link ? "link" : ""}),
			);
			e.append(...e.cells);
		}
		const row = this.rows[index];
		this.columns.forEach((c, i) => (e.cells[i].textContent = row ? c.text(row) : ""));
	}
}

function compare(a, b) {
	if (typeof a === "number" && typeof b === "number") return a - b;
	return String(a ?? "").localeCompare(String(b ?? ""), "en", {numeric: true});
}
