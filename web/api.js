// SPDX-License-Identifier: GPL-2.0-or-later
//
// Asking the server. Every question is a URL below api/; answers are JSON, but for tiles.
//
// Tiles are little-endian, every array padded to 8 bytes, so that the arrays of an answer can be
// looked at in place:
//
//	u32 'SPT1', u32 chunks, u64 generation, then per chunk
//	u32 row, u16 track, u8 mode, u8 complete, u32 n, u32 0, and
//	mode 1 (intervals): f64 start[n], f64 duration[n], u32 value[n], u32 flags[n]
//	mode 2 (bins):      u32 bin[n], u32 n[n], f64 busy[n], u32 top[n], u32 mask[n]
export const INTERVALS = 1;
export const BINS = 2;
export const OPEN_START = 1;
export const OPEN_END = 2;

const MAGIC = 0x31545053;
const HEAD = 16;

export class ApiError extends Error {
	constructor(message, status, at) {
		super(message);
		this.status = status;
		this.at = at;
	}
}

let saved = null; // answers in place of the server; see embedded.js

export function answerFrom(source) {
	saved = source;
}

export function hasServer() {
	return !saved;
}

let listener = () => {}; // hears how every question went; see contact.js

// f(error): null when there was an answer, whatever it says; an error when there was none, or when
// the server does not know who asks.
export function onContact(f) {
	listener = f;
}

// ---- who asks ----
//
// The address that spur view prints has a secret behind its '#', where no server sees it. It is good
// for one exchange: for the secret of the session, which this tab keeps (for this server alone: the
// port is part of what sessionStorage goes by) and sends with every question. Neither of them stays
// in the address, so that can be passed on.

const SESSION = "spur session";
const LINK = "token";
const EXCHANGE = "session"; // the question

let session = null;
let entering = null; // what questions wait for: the exchange, whatever comes of it

function kept() {
	try {
		return sessionStorage.getItem(SESSION);
	} catch {
		return null; // a browser that keeps nothing: the page works until it is reloaded
	}
}

function keep(secret) {
	session = secret;
	try {
		sessionStorage.setItem(SESSION, secret);
	} catch {
		return;
	}
}

// Follows the link, if the address is one; whether it was.
export async function enter() {
	const parts = new URLSearchParams(location.hash.slice(1));
	const link = parts.get(LINK);
	session ??= kept();
	if (link === null) return false;
	parts.delete(LINK);
	history.replaceState(null, "", "#" + parts);
	const exchange = post(EXCHANGE, {link});
	entering = exchange.then(
		(answer) => keep(answer.session),
		() => null,
	);
	try {
		await exchange;
		await entering;
	} catch (e) {
		// Who opens a link again where it was followed is known already.
		if (!session) throw e;
	}
	return true;
}

async function ask(path, {headers = {}, ...options}) {
	if (path !== EXCHANGE) await entering;
	if (session) headers = {...headers, Authorization: `Bearer ${session}`};
	let answer;
	try {
		answer = await fetch("api/" + path, {credentials: "omit", headers, ...options});
	} catch (e) {
		if (e.name === "AbortError") throw e;
		const silence = new ApiError("spur does not answer; is it still running?", 0);
		listener(silence);
		throw silence;
	}
	if (answer.status !== 401) listener(null);
	if (answer.ok) return answer;
	let said = {};
	try {
		said = await answer.json();
	} catch {
		said = {error: `the server answered ${answer.status}`};
	}
	const refusal = new ApiError(String(said.error), answer.status, said.at);
	if (answer.status === 401 && path !== EXCHANGE) listener(refusal);
	throw refusal;
}

// The values of an object as a query; those that are not there are left out.
export function query(values) {
	const parts = [];
	for (const [name, value] of Object.entries(values))
		if (value !== undefined && value !== null)
			parts.push(`${name}=${encodeURIComponent(value)}`);
	return parts.length ? "?" + parts.join("&") : "";
}

export async function get(path, values = {}, signal = undefined) {
	if (saved) return saved.get(path, values);
	return (await ask(path + query(values), {signal})).json();
}

export async function post(path, body, signal = undefined) {
	if (saved) return saved.post(path, body);
	const headers = {"Content-Type": "application/json"};
	const answer = await ask(path, {
		method: "POST",
		headers,
		body: JSON.stringify(body),
		signal,
	});
	return answer.json();
}

// [1, 5, 6, 7] as "1,5-7".
export function rowList(rows) {
	const sorted = [...new Set(rows)].sort((a, b) => a - b);
	const parts = [];
	for (let i = 0; i < sorted.length;) {
		let j = i;
		while (sorted[j + 1] === sorted[j] + 1) j++;
		parts.push(i === j ? sorted[i] : `${sorted[i]}-${sorted[j]}`);
		i = j + 1;
	}
	return parts.join(",");
}

export async function getTiles(level, tile, rows, signal) {
	if (saved) return saved.getTiles(level, tile, rows);
	const answer = await ask("tiles" + query({level, tile, rows: rowList(rows)}), {signal});
	return decodeTiles(await answer.arrayBuffer());
}

// Takes arrays out of an answer, one after the other.
class Reader {
	constructor(buffer) {
		this.buffer = buffer;
		this.at = HEAD;
	}
	take(Type, n) {
		const size = n * Type.BYTES_PER_ELEMENT;
		if (this.at + size > this.buffer.byteLength)
			throw new ApiError("an answer with tiles is cut off", 0);
		const array = new Type(this.buffer, this.at, n);
		this.at += (size + 7) & ~7;
		return array;
	}
}

export function decodeTiles(buffer) {
	if (buffer.byteLength < HEAD) throw new ApiError("an answer with tiles is too short", 0);
	const head = new DataView(buffer);
	if (head.getUint32(0, true) !== MAGIC)
		throw new ApiError("an answer has no tiles in it", 0);
	const r = new Reader(buffer);
	const chunks = [];
	for (let left = head.getUint32(4, true); left > 0; left--)
		chunks.push(decodeChunk(r, head));
	return {generation: Number(head.getBigUint64(8, true)), chunks};
}

function decodeChunk(r, view) {
	const at = r.at;
	r.take(Uint32Array, 4);
	const c = {
		row: view.getUint32(at, true),
		track: view.getUint16(at + 4, true),
		mode: view.getUint8(at + 6),
		complete: view.getUint8(at + 7) !== 0,
		n: view.getUint32(at + 8, true),
	};
	if (c.mode === INTERVALS) {
		c.start = r.take(Float64Array, c.n);
		c.duration = r.take(Float64Array, c.n);
		c.value = r.take(Uint32Array, c.n);
		c.flags = r.take(Uint32Array, c.n);
	} else {
		c.bin = r.take(Uint32Array, c.n);
		c.count = r.take(Uint32Array, c.n);
		c.busy = r.take(Float64Array, c.n);
		c.value = r.take(Uint32Array, c.n);
		c.mask = r.take(Uint32Array, c.n);
	}
	return c;
}
