// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is at a place of the picture: which row, which lane, which slice or record.
import {INTERVALS} from "./api.js";
import {firstInterval} from "./columns.js";
import {firstAt} from "./layout.js";
import {levelFor} from "./tiles.js";
import {valueText} from "./trace.js";

const NEAR = 5; // CSS pixels from a tick

// {zone: "ruler" | "gutter" | "rows", x, y, t, item?, top?, lane?}
export function placeAt(picture, x, y) {
	const {g, app} = picture;
	const place = {x, y, t: picture.timeAt(x)};
	place.zone = x < g.gutter ? "gutter" : y < g.ruler ? "ruler" : "rows";
	if (y < g.ruler) return place;
	const pinned = y < g.ruler + g.pinned;
	const items = pinned ? app.layout.pinned : app.layout.items;
	const offset = g.ruler + (pinned ? 0 : g.pinned - g.y);
	const item = items[firstAt(items, y - offset)];
	if (!item) return place;
	place.item = item;
	place.top = offset + item.y;
	place.lane = item.lanes?.find((l) => y >= place.top + l.y && y <= place.top + l.y + l.h);
	return place;
}

// The part of a row's tiles that the last frame drew, at a time.
function chunksAt(picture, row, t) {
	const level = levelFor(picture.g.perPixel / picture.g.ratio);
	return picture.app.tiles.peek(row.row, level, t)?.tracks ?? [];
}

// The slice at a place of the rows: {row, track, start, duration, value, flags, text}; null: none.
// With many slices in a pixel there is no telling which: {crowd: true, …}.
export function sliceAt(picture, place) {
	const {item, lane, t} = place;
	if (!lane || lane.kind === "ticks") return null;
	const chunks = chunksAt(picture, item.row, t);
	for (const track of [...lane.tracks].reverse()) {
		const found = inChunk(picture, chunks[track.track], t);
		if (found)
			return {
				row: item.row,
				track,
				...found,
				text: valueText(picture.app.trace, item.row, track, found.value),
			};
	}
	return null;
}

function inChunk(picture, c, t) {
	if (!c || !c.n) return null;
	if (c.mode === INTERVALS) {
		const i = firstInterval(c, t - picture.g.perPixel);
		const fits = i < c.n && c.start[i] <= t + picture.g.perPixel;
		return fits
			? {
					start: c.start[i],
					duration: c.duration[i],
					value: c.value[i],
					flags: c.flags[i],
				}
			: null;
	}
	const bin = Math.floor((t - c.base) / c.width);
	const i = c.bin.indexOf(bin);
	if (i < 0) return null;
	return {
		crowd: true,
		start: c.base + bin * c.width,
		duration: c.width,
		value: c.value[i],
		flags: 0,
		n: c.count[i],
		busy: c.busy[i],
	};
}

// The record nearest to a place in the lane of ticks: {row, ts, id}, or {row, ts, n} for a bin of
// many.
export function tickAt(picture, place) {
	const {item, lane, t} = place;
	const track = lane?.kind === "ticks" && lane.tracks[0];
	if (!track) return null;
	const c = chunksAt(picture, item.row, t)[track.track];
	if (!c || !c.n) return null;
	return c.mode === INTERVALS
		? nearestTick(picture, c, item.row, t)
		: nearestBin(picture, c, item.row, t);
}

function nearestTick(picture, c, row, t) {
	const near = NEAR * picture.g.perPixel;
	let best = null;
	for (let i = firstInterval(c, t - near); i < c.n && c.start[i] <= t + near; i++)
		if (
			!picture.ticks.hidden.has(c.value[i]) &&
			(!best || Math.abs(c.start[i] - t) < Math.abs(best.ts - t))
		)
			best = {row, ts: c.start[i], id: c.value[i]};
	return best;
}

function nearestBin(picture, c, row, t) {
	const bin = (t - c.base) / c.width;
	const near = Math.max(0.5, (NEAR * picture.g.perPixel) / c.width);
	let best = -1;
	for (let i = 0; i < c.n; i++)
		if (
			Math.abs(c.bin[i] + 0.5 - bin) <= near &&
			(best < 0 ||
				Math.abs(c.bin[i] + 0.5 - bin) < Math.abs(c.bin[best] + 0.5 - bin))
		)
			best = i;
	return best < 0 ? null : {row, ts: c.base + c.bin[best] * c.width, n: c.count[best]};
}
