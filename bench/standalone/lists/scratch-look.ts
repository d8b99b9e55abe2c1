import { readFileSync } from 'node:fs';
import { Client } from 'pg';
const port = readFileSync(process.argv[2] + '/postmaster.pid', 'utf8').split('\n')[3];
const c = new Client({ connectionString: `postgres://ingest:for-the-bench@127.0.0.1:${port}/call_analysis` }); await c.connect();
console.table((await c.query(process.argv[3]!)).rows); await c.end();
