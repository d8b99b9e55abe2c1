import type { Bus } from '@call-analysis/bus';
import { removePackedTranscripts } from '@call-analysis/call-processing';
import { AuditEntryAdded, createEvent, RecordingErased } from '@call-analysis/events';
import { Failures, Fault } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import type { Firm } from '@call-analysis/service/firms';
import { eraseCall, type EraseDeps, unlessErased } from '../erasure/erase-call.ts';
import type { LocalDay, OldData, Retained } from './retention-store.ts';

/** For how many days a firm keeps what it has. Null: until it is erased. */
type FirmRetention = Pick<Firm, 'uuid' | 'timeZone' | 'audioDays' | 'transcriptDays' | 'callsDays'>;

/** The firms, whose settings may change at any time. */
export interface RetainingFirms {
  list(): Promise<readonly FirmRetention[]>;
  /** Fault NOT_FOUND. */
  find(firmUuid: string): Promise<FirmRetention>;
}

interface Deps extends EraseDeps {
  readonly retained: Retained;
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
export function retentionSweep(deps: Deps, firms: RetainingFirms): (now: Date) => Promise<void> {
  let work: AsyncGenerator<void> | undefined;
  let nextAt = 0;
  return async (now) => {
    if (work === undefined && now.getTime() < nextAt) return;
    work ??= applyRetention(deps, firms, now);
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
 * writes an audit entry for each. A firm's setting is read before each group, because a firm may take it back at any
 * time. What fails does not keep other calls and firms waiting: the errors are thrown at the end. Several processes may
 * run it at the same time.
 */
export async function* applyRetention(deps: Deps, firms: RetainingFirms, now: Date): AsyncGenerator<void> {
  const errors: unknown[] = [];
  for (const firm of await firms.list()) {
    for (const kind of KINDS.filter(({ daysOf }) => daysOf(firm) !== null)) {
      try {
        yield* removeOld(deps, firms, firm.uuid, kind, now);
      } catch (error) {
        // The firm was removed in the meantime.
        if (!(error instanceof Fault && error.kind === 'not-found')) errors.push(error);
      }
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'some of what firms no longer keep could not be removed');
}

async function* removeOld(
  deps: Deps,
  firms: RetainingFirms,
  firmUuid: string,
  { what, daysOf, remove }: Kind,
  now: Date,
): AsyncGenerator<void> {
  const failures = new Failures();
  for (let after = LOWEST_UUID; ;) {
    const firm = await firms.find(firmUuid);
    const days = daysOf(firm);
    if (days === null) break;
    const first = await deps.retained.dayBefore(now, days, firm.timeZone);
    const old = { firmUuid, after, before: lowestUuidAt(first.beganAt), limit: CALLS_AT_ONCE };
    const uuids = await deps.retained.find(what, old);
    const removeSome = (some: readonly string[]) =>
      remove(deps, firmUuid, some, now, (tx, count) => receipt(deps.bus, tx, firmUuid, what, count, first));
    // After a group has failed, one by one: one call must not keep the others.
    if (uuids.length > 0 && !(await new Failures().attempt(() => removeSome(uuids))))
      for (const uuid of uuids) await failures.attempt(() => removeSome([uuid]));
    yield;
    if (uuids.length < CALLS_AT_ONCE) break;
    after = uuids.at(-1)!;
  }
  failures.throwAll();
}

interface Kind {
  readonly what: OldData;
  daysOf(firm: FirmRetention): number | null;
  /** Calls of `note` become the audit entry. */
  remove(
    deps: Deps,
    firmUuid: string,
    uuids: readonly string[],
    now: Date,
    note: (tx: Sql, count: number) => Promise<void>,
  ): Promise<void>;
}

const KINDS: readonly Kind[] = [
  {
    what: 'calls',
    daysOf: ({ callsDays }) => callsDays,
    async remove(deps, firmUuid, uuids, _now, note) {
      let erased = 0;
      try {
        for (const uuid of uuids) await eraseCall(deps, firmUuid, uuid).then(() => (erased += 1), unlessErased);
      } finally {
        if (erased > 0) await deps.db.transaction((tx) => note(tx, erased));
      }
    },
  },
  {
    what: 'recordings',
    daysOf: ({ audioDays }) => audioDays,
    remove: ({ db, retained, bus }, firmUuid, uuids, now, note) =>
      db.transaction(async (tx) => {
        const taken = await retained.takeRecordings(tx, firmUuid, uuids, now);
        if (taken.length === 0) return;
        const origin = { firmuuid: firmUuid };
        const erased_at = now.toISOString();
        await bus.publish(
          tx,
          taken.map((uuid) => createEvent('ingest', RecordingErased, uuid, origin, { erased_at })),
        );
        await note(tx, taken.length);
      }),
  },
  {
    what: 'transcripts',
    daysOf: ({ transcriptDays }) => transcriptDays,
    async remove({ db, retained, objects }, firmUuid, uuids, now, note) {
      const taken = await db.transaction(async (tx) => {
        const uuidsTaken = await retained.takeTranscripts(tx, firmUuid, uuids, now);
        if (uuidsTaken.length > 0) await note(tx, uuidsTaken.length);
        return uuidsTaken;
      });
      // Where this fails, the sweep removes them.
      await Promise.all(taken.map((uuid) => removePackedTranscripts(objects, firmUuid, uuid)));
    },
  },
];

/** The audit entry of a group: how many of what were removed, up to and including which day. */
async function receipt(
  bus: Bus,
  tx: Sql,
  firmUuid: string,
  what: OldData,
  count: number,
  { day }: LocalDay,
): Promise<void> {
  const last = new Date(Date.parse(`${day}T00:00:00Z`) - DAY_MS).toISOString().slice(0, 10);
  const origin = { firmuuid: firmUuid };
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
