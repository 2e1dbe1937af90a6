// SPDX-License-Identifier: GPL-2.0-or-later
//
// window.spur: what a test, or somebody at the browser's console, can ask about the picture.
export function inspect(app) {
	const rowsInSight = () => [true, false].flatMap((pinned) => app.picture.inSight(pinned));
	return {
		app,
		get view() {
			return app.motion.range;
		},
		get state() {
			return app.state.toText();
		},
		get frames() {
			return [...app.picture.frames];
		},
		get counts() {
			return app.picture.batch.counts;
		},
		// Names drawn into slices by the last frame.
		get labels() {
			return app.picture.batch.texts.map((t) => t.string);
		},
		// Rows in sight, with their place in the page.
		get rows() {
			const {zoom} = app.picture.g;
			const {top} = app.picture.overlay.getBoundingClientRect();
			return rowsInSight().map(({item, y}) => ({
				key: item.key,
				type: item.type,
				title: item.title,
				y: top + y * zoom,
				h: item.h * zoom,
				lanes: item.lanes?.map((l) => ({
					kind: l.kind,
					y: top + (y + l.y) * zoom,
					h: l.h * zoom,
				})),
			}));
		},
		get picked() {
			return app.picked;
		},
		get chain() {
			return app.chain;
		},
		// The place in the page of a time.
		x(t) {
			return (
				app.picture.overlay.getBoundingClientRect().left +
				app.picture.xOf(t) * app.picture.g.zoom
			);
		},
		// Nothing is being asked for and nothing waits to be drawn.
		get settled() {
			return (
				app.trace.generation >= 0 &&
				app.tiles.idle &&
				!app.picture.scheduled &&
				!app.motion.target
			);
		},
		// The colour of a pixel of the picture, at a place of the page.
		colour(x, y) {
			const {canvas} = app.picture;
			const box = canvas.getBoundingClientRect();
			const r = canvas.width / box.width;
			const at = app.picture.ctx.getImageData(
				Math.round((x - box.left) * r),
				Math.round((y - box.top) * r),
				1,
				1,
			);
			return [...at.data.slice(0, 3)];
		},
	};
}
