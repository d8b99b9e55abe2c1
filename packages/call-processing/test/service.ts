import { type Bus, migrateBus, openBus } from '@call-analysis/bus';
import { type Database, openDatabase } from '@call-analysis/postgres';
import { freshDatabase } from '@call-analysis/testing/database';

/** A database with the tables that call processing needs, and an embedded bus in it. */
export interface TestService {
  readonly db: Database;
  readonly bus: Bus;
  close(): Promise<void>;
}

export async function openTestService(): Promise<TestService> {
  const database = await freshDatabase();
  const db = openDatabase({ url: database.url('ingest'), schema: 'ingest' });
  await db.query(
    `CREATE TABLE erased_subject (firm_uuid uuid NOT NULL, subject uuid NOT NULL,
       at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (firm_uuid, subject))`,
  );
  await db.query(
    `CREATE TABLE claimed_event (consumer text NOT NULL, event_id uuid NOT NULL,
       at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (consumer, event_id))`,
  );
  const url = database.url('bus');
  await migrateBus({ url, schema: 'bus' });
  const log = { info() {}, warn() {}, error() {} };
  const bus = await openBus({ transport: 'embedded', url, schema: 'bus' }, { name: 'test', log });
  return {
    db,
    bus,
    async close() {
      await bus.close();
      await db.close();
      await database.drop();
    },
  };
}
