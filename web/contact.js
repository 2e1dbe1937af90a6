// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whether the server answers. As long as it does not, or not to this page, a line over the picture
// says that what is seen may be old. The trace is asked for now and then (trace.js), so that a
// server that is gone is missed, and one that is back is seen, without anybody touching the page.
import {onContact} from "./api.js";
import {byId, fill} from "./dom.js";

const UNAUTHORIZED = 401;

const GONE = "The server does not answer. What is drawn may be out of date.";
const VOID =
	"The server does not know this page any more: open the link that spur view has printed. " +
	"What is drawn may be out of date.";

export class Contact {
	// back(): the server answers again.
	constructor(app, back) {
		this.app = app;
		this.back = back;
		this.box = byId("contact");
		this.lost = null; // the error, while nothing is answered
		this.refused = null; // why there are no tiles
		onContact((error) => this.heard(error));
	}

	heard(error) {
		const was = this.lost;
		// Before the trace is there the page says itself why it is empty.
		this.lost = this.app.trace.generation < 0 ? null : error;
		this.show();
		if (was && !this.lost) this.back();
	}

	// Of the picture: the error of the last tiles that were asked for, null when they came.
	picture(error) {
		this.refused = error;
		this.show();
	}

	words() {
		if (this.lost) return this.lost.status === UNAUTHORIZED ? VOID : GONE;
		return this.refused ? `The picture is not complete: ${this.refused.message}` : "";
	}

	show() {
		const words = this.words();
		if (this.box.textContent === words) return;
		fill(this.box, words);
		this.box.hidden = !words;
	}
}
