import { mkdir, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { migrations, schema } from '@call-analysis/ingest';
import { migrate, provision, openDatabase } from '@call-analysis/postgres';
import { startServer } from '@call-analysis/postgres/server';
import { Client } from 'pg';
import { openStore } from '../../../services/ingest/store/index.ts';
import { fill } from './scratch-bench.ts';
import { maintainStatistics } from '../../../services/ingest/statistics/maintain-statistics.ts';
const directory = process.argv[2]!; const calls = Number(process.argv[3]);
const stamp = (t: string) => console.log(new Date().toISOString().slice(11,19), t);
const server = await startServer({ directory, log: () => {} });
const urls = await provision({ adminUrl: server.adminUrl, database: 'call_analysis', schemas: [{ schema, role: schema, password: 'for-the-bench' }], members: [] });
const url = urls[schema]!;
await migrate({ url, schema, folder: migrations });
const firmUuid = randomUUID();
await writeFile(directory + '/../firm', firmUuid);
stamp('fill'); await fill(url, firmUuid, calls); stamp('filled');
const db = openDatabase({ url, schema }); const store = openStore(db, url);
const client = new Client({ connectionString: url }); await client.connect(); await client.query(`SET search_path = ${schema}`);
if (calls > 1e6) { await client.query("CHECKPOINT").catch(() => {}); await client.end(); await store.close(); await db.close(); await server.stop(); stamp("rows done"); process.exit(0); }
for (;;) { await maintainStatistics({ store }, 0); const { rows } = await client.query('SELECT count(*)::int AS left FROM statistic_change'); stamp('left ' + rows[0].left); if (rows[0].left === 0) break; }
await client.query('VACUUM ANALYZE statistic_sum'); await client.query('VACUUM ANALYZE statistic_period');
await client.end(); await store.close(); await db.close(); await server.stop(); stamp('done');
