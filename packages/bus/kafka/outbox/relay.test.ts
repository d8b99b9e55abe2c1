import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type Database, openDatabase } from '@call-analysis/postgres';
import { waitUntil } from '@call-analysis/testing';
import { freshDatabase, type TestDatabase } from '@call-analysis/testing/database';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { migrateBus } from '../../open.ts';
import { newEvent, numbers } from '../../test/new-event.ts';
import { putIntoOutbox } from './outbox.ts';

describe('the relay', () => {
  let database: TestDatabase;
  let service: Database;

  beforeAll(async () => {
    database = await freshDatabase();
    await migrateBus({ url: database.url('bus'), schema: 'bus' });
    service = openDatabase({ url: database.url('ingest'), schema: 'ingest' });
  });

  afterAll(async () => {
    await service?.close();
    await database?.drop();
  });

  it('survives that the connection to the database breaks before Kafka acknowledges, and sends these events again', async () => {
    const events = numbers(30).map((n) => ({ event: newEvent({ type: 'test.happened.v1' }, n) }));
    await service.transaction((tx) => putIntoOutbox(tx, 'bus', events, { overflow: false }));
    // A process of its own: a rejection that nobody handles ends it.
    const program = fileURLToPath(new URL('../../test/slow-kafka-process.ts', import.meta.url));
    const child = spawn(process.execPath, [program, database.url('bus')], { stdio: ['ignore', 'pipe', 'pipe'] });
    const exited = once(child, 'exit');
    const written = Promise.all([text(child.stdout), text(child.stderr)]);
    await waitUntil(
      async () => child.exitCode !== null || (await service.query('SELECT FROM bus.outbox')).length === 0,
    );
    child.kill('SIGTERM');
    const request = JSON.stringify(numbers(30));
    expect([await exited, await written]).toEqual([
      [0, null],
      [`${request}\n${request}\n`, ''],
    ]);
  });
});
