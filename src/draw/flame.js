// SPDX-License-Identifier: GPL-2.0-or-later
// What a picture of frames does in a browser: details under the pointer, zoom by a click, search.
// Everything it shows is set as text, never as markup: names are those of strangers.
(function () {
	'use strict';
	var script = document.currentScript;
	var svg = (script && script.ownerSVGElement) || document.documentElement;
	var top = svg.querySelector('.all'), left = +svg.dataset.left, inner = +svg.dataset.inner;
	var kind = svg.dataset.kind, alone = svg === document.documentElement;
	var frames = [], ticks = [], zoomed = null, sought = '', box = null;
	var part = null, drawing = false;
	var CHAR = 7.23, EPS = 1e-4, NARROW = 0.1, BORDERED = 3;

	function one(name) {
		return svg.querySelector('.' + name);
	}

	function setText(element, text) {
		if (element)
			element.textContent = text;
	}

	// The title is "NAME (numbers)"; numbers have no parenthesis in them.
	function frame(g, i) {
		var rect = g.querySelector('rect'), title = g.querySelector('title').textContent;

		return {
			g: g, rect: rect, text: g.querySelector('text'), title: title,
			name: title.slice(0, title.lastIndexOf(' (')), i: i, hit: false,
			x: +rect.getAttribute('x') - left, w: +rect.getAttribute('width'),
			y: +rect.getAttribute('y')
		};
	}

	function fit(name, width) {
		var room = Math.floor((width - 5) / CHAR), chars = Array.from(name);

		if (room < 3)
			return '';
		return chars.length <= room ? name : chars.slice(0, room - 2).join('') + '..';
	}

	function time(ns) {
		var units = [[1e9, ' s'], [1e6, ' ms'], [1e3, ' us'], [1, ' ns']], i = 0;

		while (i < 3 && Math.abs(ns) < units[i][0])
			i++;
		return +(ns / units[i][0]).toPrecision(6) + units[i][1];
	}

	function place(f, from, scale) {
		var a = Math.max((f.x - from) * scale, 0);
		var b = Math.min((f.x + f.w - from) * scale, inner), w = b - a;
		var seen = w >= NARROW || (f === zoomed);

		f.g.style.display = seen ? '' : 'none';
		if (!seen)
			return;
		f.rect.setAttribute('x', (left + a).toFixed(3));
		f.rect.setAttribute('width', w.toFixed(3));
		f.rect.classList.toggle('n', w < BORDERED);
		if (f.text) {
			f.text.setAttribute('x', (left + a + 3).toFixed(3));
			f.text.textContent = fit(f.name, w);
		}
	}

	function showTicks(from, scale) {
		ticks.forEach(function (t) {
			setText(t, time((from + (+t.getAttribute('x') - left) / scale) / inner * +svg.dataset.ns));
		});
	}

	function show() {
		var area = zoomed || part, from = area ? area.x : 0;
		var scale = area ? inner / Math.max(area.w, EPS) : 1;

		frames.forEach(function (f) {
			place(f, from, scale);
			f.g.classList.toggle('up', !!zoomed && f !== zoomed && kind === 'flame' &&
				f.x <= zoomed.x + EPS && f.x + f.w >= zoomed.x + zoomed.w - EPS && outside(f));
		});
		showTicks(from, scale);
		offerReset();
	}

	function offerReset() {
		one('reset').style.display = zoomed || part || sought ? '' : 'none';
	}

	// Whether a frame as wide as the zoomed one is one of its callers.
	function outside(f) {
		return svg.dataset.down === '1' ? f.y < zoomed.y : f.y > zoomed.y;
	}

	function expression(term) {
		try {
			return new RegExp(term);
		} catch (e) {
			return null;
		}
	}

	// A frame within one that was found adds nothing to what is found.
	function share() {
		var found = frames.filter(function (f) { return f.hit; }), end = -1, width = 0;

		found.sort(function (a, b) { return a.x - b.x || b.w - a.w; });
		found.forEach(function (f) {
			if (f.x + f.w > end) {
				width += f.x + f.w - Math.max(f.x, end);
				end = f.x + f.w;
			}
		});
		return found.length + ' found, ' + (100 * width / inner).toFixed(2) + '%';
	}

	function search(term) {
		var re = term ? expression(term) : null;

		sought = term;
		if (box)
			box.classList.toggle('wrong', !!term && !re);
		frames.forEach(function (f) {
			f.hit = !!re && re.test(f.name);
			f.g.classList.toggle('hit', f.hit);
		});
		setText(one('found'), !term ? '' : re ? share() : 'no regular expression');
		offerReset();
	}

	function keep() {
		var parts = [];

		if (!alone)
			return;
		if (zoomed)
			parts.push('z=' + zoomed.i);
		if (part)
			parts.push('p=' + part.x.toFixed(4) + ',' + part.w.toFixed(4));
		if (sought)
			parts.push('s=' + encodeURIComponent(sought));
		try {
			history.replaceState(null, '', '#' + parts.join('&'));
		} catch (e) {
			location.hash = parts.join('&');
		}
	}

	function restore() {
		var state = {};

		if (!alone)
			return;
		location.hash.slice(1).split('&').forEach(function (part) {
			var at = part.indexOf('=');

			try {
				state[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
			} catch (e) {
				return;
			}
		});
		zoomed = /^\d+$/.test(state.z || '') ? frames[+state.z] || null : null;
		part = null;
		if (/^[\d.]+,[\d.]+$/.test(state.p || ''))
			part = { x: parseFloat(state.p), w: parseFloat(state.p.split(',')[1]) || inner };
		show();
		search(state.s || '');
	}

	function closeBox() {
		if (box)
			box.parentNode.remove();
		box = null;
	}

	function openBox() {
		var holder;

		if (kind === 'heat')
			return;
		if (!box) {
			holder = document.createElementNS('http://www.w3.org/2000/svg', 'foreignObject');
			holder.setAttribute('x', left + inner - 260);
			holder.setAttribute('y', 30);
			holder.setAttribute('width', 260);
			holder.setAttribute('height', 24);
			box = document.createElementNS('http://www.w3.org/1999/xhtml', 'input');
			box.setAttribute('placeholder', 'regular expression');
			holder.appendChild(box);
			top.appendChild(holder);
			box.addEventListener('input', function () {
				search(box.value);
				keep();
			});
		}
		box.value = sought;
		box.focus();
		box.select();
	}

	// A chart is zoomed by the wheel too, around the pointer; a burst of it is drawn once.
	function turned(e) {
		var area = zoomed || part || { x: 0, w: inner };
		var x = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
		var at = (x - left) / inner, w;

		if (!e.ctrlKey && !e.metaKey)
			return;
		e.preventDefault();
		w = Math.min(Math.max(area.w * (e.deltaY < 0 ? 0.7 : 1 / 0.7), inner * 1e-5), inner);
		x = Math.min(Math.max(area.x + at * (area.w - w), 0), inner - w);
		zoomed = null;
		part = w < inner ? { x: x, w: w } : null;
		if (drawing)
			return;
		drawing = true;
		requestAnimationFrame(function () {
			drawing = false;
			show();
			keep();
		});
	}

	function reset() {
		zoomed = part = null;
		closeBox();
		search('');
		show();
		keep();
	}

	function pressed(e) {
		if (e.key === 'Escape') {
			reset();
		} else if (e.key === 'Enter' && e.target === box) {
			closeBox();
		} else if (e.target !== box && (e.key === '/' || ((e.ctrlKey || e.metaKey) && e.key === 'f'))) {
			e.preventDefault();
			openBox();
		}
	}

	Array.prototype.forEach.call(svg.querySelectorAll('g.f'), function (g, i) {
		var f = frame(g, i);

		frames.push(f);
		g.addEventListener('mouseenter', function () { setText(one('details'), f.title); });
		g.addEventListener('mouseleave', function () { setText(one('details'), ''); });
		g.addEventListener('click', function () {
			if (kind === 'heat') {
				setText(one('details'), f.title);
				return;
			}
			zoomed = kind === 'flame' && f.w >= inner - EPS ? null : f;
			part = null;
			show();
			keep();
		});
	});
	ticks = Array.prototype.slice.call(svg.querySelectorAll('.tick'));
	top.classList.add('scripted');
	one('reset').addEventListener('click', reset);
	one('search').addEventListener('click', openBox);
	(alone ? window : svg).addEventListener('keydown', pressed);
	if (kind === 'chart')
		svg.addEventListener('wheel', turned, { passive: false });
	if (alone)
		window.addEventListener('hashchange', restore);
	if (kind !== 'heat')
		restore();
	else
		one('search').style.display = one('reset').style.display = 'none';
	if (!alone && kind !== 'heat')
		show();
})();
