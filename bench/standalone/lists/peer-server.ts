import { schema } from '@call-analysis/ingest';
import express from 'express';
import { Pool } from 'pg';

/** Runs the statements of a request one after the other on the database of the argument. Sends its URL to the parent, and ends with it. */
const pool = new Pool({ connectionString: process.argv[2], max: 1, options: `-c search_path=${schema}` });
const app = express()
  .use(express.json({ limit: '1mb' }))
  .post('/', async (request, response) => {
    const results = [];
    for (const { text, values } of request.body as { text: string; values: unknown[] }[])
      results.push((await pool.query(text, values)).rows);
    response.json(results);
  });
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number };
  process.send?.(`http://127.0.0.1:${port}/`);
});
process.once('disconnect', () => process.exit(0));
