import { setTimeout as pause } from 'node:timers/promises';
import type { Bus } from '@call-analysis/bus';
import { type BodyOf, createEvent, type Event, FirmDataRemoved, FirmRemoved } from '@call-analysis/events';
import { attemptEach, Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { type Database, DEADLOCKS_RETRIED, type Sql } from '@call-analysis/postgres';
import { writeFirmTombstone } from './tombstones.ts';

export interface RemovedThing {
  /** Null for rows that are not worth a line of the receipt. */
  readonly what: string | null;
  readonly count: number;
}

type FirmRemovedEvent = Event<BodyOf<typeof FirmRemoved>>;

export interface FirmData {
  /**
   * Each removes up to `limit` rows of the firm and returns their kind and number. They are called in turn, each until
   * it finds nothing.
   */
  readonly rows: readonly ((tx: Sql, firmUuid: string, limit: number) => Promise<readonly RemovedThing[]>)[];
  /** The beginnings of the keys of the firm's objects. */
  folders?(firmUuid: string, country: string): readonly string[];
  /** Stops the work for the firm, which is not to go on while its data is removed. */
  stop?(firmUuid: string): Promise<void> | void;
}

interface Deps {
  readonly db: Database;
  readonly bus: Bus;
  readonly objects?: Objects | undefined;
}

const ROWS = 2_000;
const OBJECTS = 500;
const REMOVED_AT_ONCE = 16;
const ATTEMPTS = 20;
const ATTEMPT_EVERY_MS = 250;

/**
 * Removes everything that a service holds of a removed firm and publishes what it was. The tombstone comes first, so
 * that nothing is stored any more. Can be interrupted at any point: the next delivery of the event goes on, and what
 * was counted stays counted. Fault REMOVAL_UNFINISHED while another consumer works on an event of the firm.
 *
 * Needs this table in the service's own schema:
 *
 *     CREATE TABLE firm_removal (
 *       firm_uuid uuid PRIMARY KEY,
 *       country text NOT NULL,
 *       removed jsonb NOT NULL DEFAULT '{}',
 *       at timestamptz NOT NULL DEFAULT now()
 *     );
 */
export async function removeFirm(
  { service, db, bus, objects }: Deps & { readonly service: string },
  data: FirmData,
  event: FirmRemovedEvent,
): Promise<void> {
  const { firmuuid: firmUuid, data: body } = event;
  await db.transaction(async (tx) => {
    await writeFirmTombstone(tx, firmUuid);
    await tx.query('INSERT INTO firm_removal (firm_uuid, country) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      firmUuid,
      body.country,
    ]);
  });
  await data.stop?.(firmUuid);
  await removeEvents(db, bus, firmUuid);
  await removeData(db, objects, data, firmUuid, body.country);
  await db.transaction(async (tx) => {
    const [row] = await tx.query<{ removed: Record<string, number> }>(
      'SELECT removed FROM firm_removal WHERE firm_uuid = $1',
      [firmUuid],
    );
    const removed = Object.entries(row?.removed ?? {}).map(([what, count]) => ({ what, count }));
    const finished_at = new Date().toISOString();
    await bus.publish(tx, [createEvent(service, FirmDataRemoved, firmUuid, event, { service, removed, finished_at })]);
  });
}

/**
 * Removes what requests that were in progress have stored after all, of firms that were removed within a day. No
 * request runs longer. A firm whose data cannot be removed keeps no other from it; its error is thrown in the end.
 */
export async function sweepRemovedFirms({ db, objects }: Omit<Deps, 'bus'>, data: FirmData): Promise<void> {
  const firms = await db.query<{ firm: string; country: string }>(
    `SELECT firm_uuid AS firm, country FROM firm_removal WHERE at > now() - interval '1 day'`,
  );
  await attemptEach(firms, ({ firm, country }) => removeData(db, objects, data, firm, country));
}

async function removeEvents(db: Database, bus: Bus, firmUuid: string): Promise<void> {
  for (let attempt = 1; ;) {
    // Jobs that consumers take and return may deadlock with their removal.
    const { removed, inProgress } = await db.transaction(async (tx) => {
      const found = await bus.removePendingOfFirm(tx, firmUuid, [FirmRemoved, FirmDataRemoved], ROWS);
      await count(tx, firmUuid, [{ what: 'queued_event', count: found.removed }]);
      return found;
    }, DEADLOCKS_RETRIED);
    if (removed > 0) continue;
    if (inProgress === 0) return;
    if (attempt === ATTEMPTS) {
      throw new Fault('unavailable', 'REMOVAL_UNFINISHED', 'Calls of a removed firm are still being processed.');
    }
    attempt += 1;
    await pause(ATTEMPT_EVERY_MS);
  }
}

async function removeData(
  db: Database,
  objects: Objects | undefined,
  { rows, folders }: FirmData,
  firmUuid: string,
  country: string,
): Promise<void> {
  for (const remove of rows) {
    const removeSome = () =>
      db.transaction(async (tx) => {
        const removed = await remove(tx, firmUuid, ROWS);
        await count(tx, firmUuid, removed);
        return removed.some((each) => each.count > 0);
      }, DEADLOCKS_RETRIED);
    while (await removeSome());
  }
  if (objects === undefined) return;
  for (const folder of folders?.(firmUuid, country) ?? []) await removeObjects(db, objects, firmUuid, folder);
}

async function removeObjects(db: Database, objects: Objects, firmUuid: string, folder: string): Promise<void> {
  for (;;) {
    const keys: string[] = [];
    for await (const { key } of objects.list(folder)) {
      keys.push(key);
      if (keys.length === OBJECTS) break;
    }
    for (let from = 0; from < keys.length; from += REMOVED_AT_ONCE) {
      await Promise.all(keys.slice(from, from + REMOVED_AT_ONCE).map((key) => objects.remove(key)));
    }
    await count(db, firmUuid, [{ what: 'stored_file', count: keys.length }]);
    if (keys.length < OBJECTS) return;
  }
}

async function count(sql: Sql, firmUuid: string, removed: readonly RemovedThing[]): Promise<void> {
  for (const { what, count: added } of removed) {
    if (added === 0 || what === null) continue;
    await sql.query(
      `UPDATE firm_removal SET removed = jsonb_set(removed, ARRAY[$2::text],
         to_jsonb(coalesce((removed->>$2)::bigint, 0) + $3::bigint)) WHERE firm_uuid = $1`,
      [firmUuid, what, added],
    );
  }
}
