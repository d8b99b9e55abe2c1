import { claim, type Consuming, pruneClaims, type Bus } from '@call-analysis/bus';
import { type Event, AuditEntryAdded, AuditEntryCreated, CallErased } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';

/** Events about an erased call that are still delivered: they hold none of its data, and say what was done to it. */
export const OUTLAST_ERASURE = [CallErased, AuditEntryAdded, AuditEntryCreated];

/**
 * First step of erasing a call in a service, inside the transaction that erases: results that arrive later are dropped,
 * and the call's pending events and dead letters are removed.
 */
export async function stopProcessing(bus: Bus, tx: Sql, { firmuuid, subject }: Event): Promise<void> {
  await writeTombstone(tx, firmuuid, subject);
  await bus.removePending(tx, firmuuid, subject, OUTLAST_ERASURE);
}

/**
 * The number of locks that subjects share: few enough that a transaction takes few for a thousand events, and many
 * enough that an erasure waits for few others.
 */
const LOCKS = 16;
/** Distinct from the locks of other services in the same database. */
const CLASS = "hashtext(current_schema()::text || ' erased_subject')";

/**
 * Records that a firm's subject was erased, so that results that arrive later are not stored. Call it first in the
 * transaction that erases: it waits for the transactions that called `findErased` before, and what they stored is then
 * visible to be erased.
 *
 * Needs this table in the service's own schema:
 *
 *     CREATE TABLE erased_subject (
 *       firm_uuid uuid NOT NULL,
 *       subject uuid NOT NULL,
 *       at timestamptz NOT NULL DEFAULT now(),
 *       PRIMARY KEY (firm_uuid, subject)
 *     );
 */
export async function writeTombstone(tx: Sql, firmUuid: string, subject: string): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(${CLASS}, $1)::text`, [lockOf(subject)]);
  await tx.query('INSERT INTO erased_subject (firm_uuid, subject) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    firmUuid,
    subject,
  ]);
}

/**
 * Records that a firm was removed: all its subjects count as erased from now on. Call it as `writeTombstone`. Its row
 * has the firm as its subject and is kept for good.
 */
export async function writeFirmTombstone(tx: Sql, firmUuid: string): Promise<void> {
  // In ascending order, as findErased takes them.
  await tx.query(`SELECT pg_advisory_xact_lock(${CLASS}, lock)::text FROM generate_series(0, ${LOCKS - 1}) AS lock`);
  await tx.query('INSERT INTO erased_subject (firm_uuid, subject) VALUES ($1, $1) ON CONFLICT DO NOTHING', [firmUuid]);
}

/**
 * Whether a firm was removed. Call it first in the transaction that stores something for a firm: the firm cannot be
 * removed before that transaction ends.
 */
export async function isFirmRemoved(tx: Sql, firmUuid: string): Promise<boolean> {
  return (await findErased(tx, [{ firmuuid: firmUuid, subject: firmUuid }])).size > 0;
}

/**
 * The subjects among these events that were erased, those of removed firms included. Call it first in the transaction
 * that stores a result: the other subjects cannot be erased before that transaction ends.
 */
export async function findErased(
  tx: Sql,
  events: readonly Pick<Event, 'firmuuid' | 'subject'>[],
): Promise<ReadonlySet<string>> {
  if (events.length === 0) return new Set();
  // In ascending order, so that two transactions with the same events cannot deadlock with an erasure between them.
  const locks = [...new Set(events.map(({ subject }) => lockOf(subject)))].sort((one, other) => one - other);
  await tx.query(`SELECT pg_advisory_xact_lock_shared(${CLASS}, lock)::text FROM unnest($1::int[]) AS lock`, [locks]);
  const firms = [...new Set(events.map(({ firmuuid }) => firmuuid))];
  const rows = await tx.query<{ firm: string; subject: string }>(
    'SELECT firm_uuid AS firm, subject FROM erased_subject WHERE firm_uuid = ANY($1) AND subject = ANY($2)',
    [firms, [...events.map(({ subject }) => subject), ...firms]],
  );
  if (rows.length === 0) return new Set();
  const erased = new Set(rows.map(({ firm, subject }) => `${firm}/${subject}`));
  const found = events.filter(
    ({ firmuuid, subject }) => erased.has(`${firmuuid}/${subject}`) || erased.has(`${firmuuid}/${firmuuid}`),
  );
  return new Set(found.map(({ subject }) => subject));
}

/**
 * As `once` of the bus, without the events of erased subjects, which it returns: none of the others can be erased before
 * their result is stored.
 */
export async function onceUnlessErased<Each extends Pick<Event, 'id' | 'firmuuid' | 'subject'>>(
  { db, consumer }: Consuming,
  events: readonly Each[],
  work: (tx: Sql, fresh: readonly Each[]) => Promise<void>,
): Promise<ReadonlySet<string>> {
  return db.transaction(async (tx) => {
    const erased = await findErased(tx, events);
    const claimed = await claim(tx, consumer, events);
    const fresh = events.filter(({ id, subject }) => claimed.has(id) && !erased.has(subject));
    if (fresh.length > 0) await work(tx, fresh);
    return erased;
  });
}

/** Removes tombstones older than this many days. Keep them longer than an event can wait for its last retry. */
export async function pruneTombstones(sql: Sql, olderThanDays: number): Promise<void> {
  await sql.query('DELETE FROM erased_subject WHERE at < now() - make_interval(days => $1) AND subject <> firm_uuid', [
    olderThanDays,
  ]);
}

/** By the last character of the subject, which is random in a uuid. */
function lockOf(subject: string): number {
  return subject.charCodeAt(subject.length - 1) % LOCKS;
}

/** Removes the claims and tombstones of events that can no longer be redelivered. */
export async function pruneProcessed(sql: Sql, olderThanDays: number): Promise<void> {
  await pruneClaims(sql, olderThanDays);
  await pruneTombstones(sql, olderThanDays);
}
