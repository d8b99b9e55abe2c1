import type { Bus } from '@call-analysis/bus';
import { AuditEntryAdded, createEvent, RecordingErased } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Sql } from '@call-analysis/postgres';
import { eraseCall } from '../erasure/erase-call.ts';
import type { Limits } from '../limits.ts';
import type { Store } from '../store/index.ts';
import type { LocalDay, OldCalls } from './retention-store.ts';

/** For how many days a firm keeps what it has. Null: until it is erased. */
export interface FirmRetention {
  readonly firmUuid: string;
  readonly timeZone: string;
  readonly audioDays: number | null;
  readonly transcriptDays: number | null;
  readonly callsDays: number | null;
}

interface Parts {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
  readonly limits: Limits;
}

const CALLS_AT_ONCE = 100;
const DAY_MS = 24 * 3600 * 1000;
const RETRY_MS = 60_000;
/** A service that is stopping waits for this run. */
const RUN_MS = 3_000;
const LOWEST_UUID = '00000000-0000-0000-0000-000000000000';

/**
 * A schedule that removes what firms no longer keep: at the first run, and then once a day. A run does some of the work
 * and the next one goes on.
 */
export function retentionSweep(
  parts: Parts,
  listRetention: () => Promise<readonly FirmRetention[]>,
): (now: Date) => Promise<void> {
  let work: AsyncGenerator<void> | undefined;
  let nextAt = 0;
  return async (now) => {
    if (work === undefined && now.getTime() < nextAt) return;
    work ??= applyRetention(parts, await listRetention(), now);
    const deadline = Date.now() + RUN_MS;
    try {
      while (Date.now() < deadline) {
        const { done = false } = await work.next();
        if (!done) continue;
        work = undefined;
        nextAt = now.getTime() + DAY_MS;
        return;
      }
    } catch (error) {
      work = undefined;
      nextAt = now.getTime() + RETRY_MS;
      throw error;
    }
  };
}

/**
 * Removes the calls, recordings and transcripts that were accepted before the first day that a firm keeps, by the
 * firm's time zone. Calls that are still processed wait for the next run. It works in groups, yields after each, and
 * writes an audit entry for each. Several processes may run it at the same time.
 */
export async function* applyRetention(parts: Parts, firms: readonly FirmRetention[], now: Date): AsyncGenerator<void> {
  for (const { firmUuid, timeZone, callsDays, transcriptDays, audioDays } of firms) {
    for (const [what, days, remove] of [
      ['calls', callsDays, eraseCalls],
      ['recordings', audioDays, removeRecordings],
      ['transcripts', transcriptDays, removeTranscripts],
    ] as const) {
      if (days === null) continue;
      const first = await parts.store.retained.dayBefore(now, days, timeZone);
      const before = lowestUuidAt(first.beganAt);
      for (let after = LOWEST_UUID; ;) {
        const old = { firmUuid, after, before, limit: CALLS_AT_ONCE };
        const found = await remove(parts, old, now, (tx, count) =>
          receipt(parts.bus, tx, firmUuid, what, count, first),
        );
        yield;
        if (found.length < CALLS_AT_ONCE) break;
        after = found.at(-1)!;
      }
    }
  }
}

type Remove = (
  parts: Parts,
  old: OldCalls,
  now: Date,
  note: (tx: Sql, count: number) => Promise<void>,
) => Promise<readonly string[]>;

const eraseCalls: Remove = async (parts, old, _now, note) => {
  const uuids = await parts.store.retained.calls(old);
  let erased = 0;
  for (const uuid of uuids) {
    try {
      await eraseCall(parts, old.firmUuid, uuid);
      erased += 1;
    } catch (error) {
      // Another process has erased it.
      if (!(error instanceof Fault) || error.kind !== 'not-found') throw error;
    }
  }
  if (erased > 0) await parts.store.transaction((tx) => note(tx, erased));
  return uuids;
};

const removeRecordings: Remove = async ({ store, bus }, old, now, note) =>
  store.transaction(async (tx) => {
    const uuids = await store.retained.takeRecordings(tx, old, now);
    if (uuids.length === 0) return [];
    const origin = { firmuuid: old.firmUuid, priority: 0, traceparent: undefined };
    const erased_at = now.toISOString();
    await bus.publish(
      tx,
      uuids.map((uuid) => createEvent('ingest', RecordingErased, uuid, origin, { erased_at })),
    );
    await note(tx, uuids.length);
    return uuids;
  });

const removeTranscripts: Remove = async ({ store }, old, now, note) =>
  store.transaction(async (tx) => {
    const uuids = await store.retained.takeTranscripts(tx, old, now);
    if (uuids.length > 0) await note(tx, uuids.length);
    return uuids;
  });

/** The audit entry of a group: how many of what were removed, up to and including which day. */
async function receipt(
  bus: Bus,
  tx: Sql,
  firmUuid: string,
  what: string,
  count: number,
  { day }: LocalDay,
): Promise<void> {
  const last = new Date(Date.parse(`${day}T00:00:00Z`) - DAY_MS).toISOString().slice(0, 10);
  const origin = { firmuuid: firmUuid, priority: 0, traceparent: undefined };
  const entry = {
    actor: 'system',
    action: 'retention.applied',
    address: 'local',
    part: `${count} ${what}, up to ${last}`,
  };
  await bus.publish(tx, [createEvent('ingest', AuditEntryAdded, firmUuid, origin, entry)]);
}

/** No call that was accepted before this time has a higher uuid: uuids begin with the time in milliseconds. */
function lowestUuidAt(at: Date): string {
  const hex = Math.max(0, at.getTime()).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
