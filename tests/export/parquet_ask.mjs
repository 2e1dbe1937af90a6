// SPDX-License-Identifier: GPL-2.0-or-later
// Asks DuckDB or the embedded ClickHouse: node parquet_ask.mjs ENGINE FOLDER QUESTIONS
// FOLDER has the engine in node_modules, QUESTIONS is a JSON file with a list of queries. Prints a
// JSON list: for each the rows, values as texts or null, or {error: "..."}.
import {readFileSync} from 'fs';
import {createRequire} from 'module';

const [engine, folder, questions] = process.argv.slice(2);
const load = createRequire(`${folder}/`);
const text = (v) => v === null || v === undefined ? null : String(v);

async function duckdb() {
	const {DuckDBInstance} = load('@duckdb/node-api');
	const db = await (await DuckDBInstance.create(':memory:')).connect();
	return async (query) => (await db.runAndReadAll(query)).getRowsJson();
}

async function clickhouse() {
	const {query} = load('chdb');
	const settings = ' SETTINGS output_format_json_quote_64bit_integers = 1, ' +
		'output_format_json_quote_denormals = 1';
	return (sql) => String(query(sql + settings, 'JSONCompactEachRow')).split('\n')
		.filter((line) => line).map((line) => JSON.parse(line));
}

const ask = await {duckdb, clickhouse}[engine]();
const answers = [];
for (const query of JSON.parse(readFileSync(questions, 'utf8'))) {
	try {
		answers.push((await ask(query)).map((row) => row.map(text)));
	} catch (error) {
		answers.push({error: String(error)});
	}
}
process.stdout.write(JSON.stringify(answers) + '\n', () => process.exit(0));
