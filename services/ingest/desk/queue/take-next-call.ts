import { notFound } from '@call-analysis/fault';
import type { Database } from '@call-analysis/postgres';
import type { Person } from '@call-analysis/service';
import type { Firms } from '@call-analysis/service/firms';
import type { CallRow } from '../../calls/call-row.ts';
import type { Calls } from '../../calls/call-store.ts';
import type { Words } from '../../search/word-store.ts';
import type { QueueQuery, ReviewQueue } from './queue-store.ts';

/** For how long nobody else gets the call. Asking again extends it. */
const LEASE_MS = 15 * 60_000;
/** Of people who ask at the same time, each tries so many calls before the queue is read again. */
const CANDIDATES = 20;

interface Deps {
  readonly db: Database;
  readonly calls: Calls;
  readonly words: Words;
  readonly queue: ReviewQueue;
}

interface Taken {
  readonly call: CallRow;
  readonly until: Date;
}

/**
 * The call that the person is to review next, which nobody else gets until then: the one that they have, or the first of the
 * queue. Null when the queue has none for them. Fault VALIDATION_ERROR for words without a word.
 */
export async function takeNextCall(
  deps: Deps,
  { firmUuid, userUuid }: Person,
  { filter, ruleUuid, skip }: Pick<QueueQuery, 'filter' | 'ruleUuid' | 'skip'>,
  now: Date,
): Promise<Taken | null> {
  const { queue } = deps;
  const words = await deps.words.require(firmUuid, filter.q, 'filter.q');
  const query = { firmUuid, userUuid, filter, words, ruleUuid, skip, now };
  for (;;) {
    const held = await extendHeld(deps, query);
    if (held !== null) return held;
    const candidates = await queue.candidates(query, CANDIDATES);
    if (candidates.length === 0) return null;
    for (const uuid of candidates) {
      const taken = await take(deps, query, uuid);
      if (taken !== null) return taken;
    }
  }
}

/** Fault NOT_FOUND without a lease of the person. */
export async function releaseLease(
  { db, queue }: Deps,
  { firmUuid, userUuid }: Person,
  callUuid: string,
): Promise<void> {
  const isReleased = await db.transaction((tx) => queue.release(tx, firmUuid, userUuid, callUuid));
  if (!isReleased) throw notFound('lease');
}

/** How many calls of those that are asked for wait for the person, how many are being reviewed, and what each person has finished today. */
export async function readQueue(
  { queue, words, firms }: Pick<Deps, 'queue' | 'words'> & { readonly firms: Firms },
  { firmUuid, userUuid }: Person,
  { filter, ruleUuid }: Pick<QueueQuery, 'filter' | 'ruleUuid'>,
  now: Date,
) {
  const { timeZone } = await firms.find(firmUuid);
  const searched = await words.require(firmUuid, filter.q, 'q');
  const [waiting, leased, done] = await Promise.all([
    queue.countWaiting({ firmUuid, userUuid, filter, words: searched, ruleUuid, skip: [], now }),
    queue.countLeased(firmUuid, now),
    queue.doneOnDay(firmUuid, now, timeZone),
  ]);
  return { waiting, leased, done_today: done };
}

/** A call that the person has, if it is one of those that are asked for; another one is given back. */
async function extendHeld({ db, calls, queue }: Deps, query: QueueQuery): Promise<Taken | null> {
  const { firmUuid, userUuid } = query;
  return db.transaction(async (tx) => {
    await queue.lockPerson(tx, firmUuid, userUuid);
    const held = await queue.held(tx, query);
    const call = held === null ? null : await calls.share(tx, firmUuid, held);
    if (call === null) return null;
    if (!(await queue.matches(tx, query, call.uuid))) {
      await queue.release(tx, firmUuid, userUuid, call.uuid);
      return null;
    }
    const until = new Date(query.now.getTime() + LEASE_MS);
    // It may have ended before the call was locked.
    return (await queue.extend(tx, query, call.uuid, until)) ? { call, until } : null;
  });
}

/** Null when another person was quicker, the call no longer waits, or a second request of this person has taken one. */
async function take({ db, calls, queue }: Deps, query: QueueQuery, uuid: string): Promise<Taken | null> {
  const { firmUuid, userUuid } = query;
  return db.transaction(async (tx) => {
    await queue.lockPerson(tx, firmUuid, userUuid);
    if ((await queue.held(tx, query)) !== null) return null;
    // Locked, so that it is not erased, reviewed or assigned until it is leased.
    const call = await calls.share(tx, firmUuid, uuid);
    if (call === null || !(await queue.isWaiting(tx, query, uuid))) return null;
    const until = new Date(query.now.getTime() + LEASE_MS);
    return (await queue.lease(tx, query, uuid, until)) ? { call, until } : null;
  });
}
