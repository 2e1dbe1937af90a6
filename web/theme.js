// SPDX-License-Identifier: GPL-2.0-or-later
//
// Dark or light: as the system says, until somebody says otherwise here.
import {useTheme} from "./colours.js";

const KEPT = "spur theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function own() {
	try {
		return localStorage.getItem(KEPT);
	} catch {
		return null;
	}
}

function isDark() {
	return own() ? own() === "dark" : system.matches;
}

function apply(changed) {
	document.documentElement.dataset.theme = isDark() ? "dark" : "light";
	useTheme(isDark());
	changed();
}

export function followTheme(changed) {
	system.addEventListener("change", () => apply(changed));
	apply(changed);
}

export function toggleTheme(changed) {
	localStorage.setItem(KEPT, isDark() ? "light" : "dark");
	apply(changed);
}
