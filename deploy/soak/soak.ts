import { setTimeout as pause } from 'node:timers/promises';
import { type Random, randomOf } from '@call-analysis/testing';
import { rows, settled } from '../distributed/test/reconciliation.ts';
import { type Firm, newFirm, work } from './firm.ts';
import { counted, judge, type Verdict } from './judge.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import type { SoakSystem } from './system.ts';

interface SoakOptions {
  readonly calls: number;
  readonly kills: number;
  readonly seed: number;
  readonly isDistributed: boolean;
  /** Ends the load and the kills early; what was accepted until then is compared. */
  readonly over: AbortSignal;
  say(line: string): void;
}

const FIRMS = 3;
/** Calls that were accepted and have not ended. The load waits above that. */
const MOST_OPEN = 3_000;
const PAUSE_MS = [100, 1_200] as const;
/**
 * The number of kills in a row before a pause: a service that is killed every second never transcribes a recording,
 * which takes longer.
 */
const KILLS_IN_A_ROW = 10;
const REST_MS = 15_000;
/** Calls that have not ended this long after they were accepted are stuck. */
const STUCK_AFTER_MS = 120_000;
/** How long to wait for slow calls before they count as stuck. */
const GIVE_UP_MS = 900_000;
/** Events on their way through Kafka are in no queue, so the comparison is repeated for so long until it holds. */
const QUIET_WITHIN_MS = 120_000;
const SAY_EVERY_MS = 10_000;
const SHOWN = 5;

/** Runs the load and the kills on a system of its own and returns what came of it. */
export async function soak(options: SoakOptions) {
  const { isDistributed, seed } = options;
  const start = isDistributed
    ? (await import('./six-processes.ts')).startSixProcesses
    : (await import('./one-process.ts')).startOneProcess;
  options.say(`seed ${seed}; starting ${isDistributed ? 'a process for each service' : 'all services in one process'}`);
  const receiver = await startReceiver(randomOf(seed, 'receiver'));
  let system: SoakSystem | undefined;
  try {
    system = await start();
    return await run(system, receiver, options);
  } catch (error) {
    if (system !== undefined) options.say(`The last lines of the services:\n${system.stderr()}`);
    throw error;
  } finally {
    await system?.stop();
    receiver.stop();
  }
}

async function run(system: SoakSystem, receiver: Receiver, options: SoakOptions) {
  const { calls, kills, seed, say } = options;
  const failed = new AbortController();
  const over = AbortSignal.any([options.over, failed.signal]);
  const firms: Firm[] = [];
  for (let number = 0; number < FIRMS; number++) firms.push(await newFirm(system, receiver));
  const accepted = () => firms.reduce((sum, { client }) => sum + client.accepted.size, 0);
  const killed: string[] = [];
  const state = { open: 0, killing: 'nothing', accepted: 0 };

  /** The load and the kills keep pace, so that both last for the complete run. */
  const share = () => (kills === 0 ? Infinity : ((killed.length + 1) / kills) * calls);
  async function mayGoOn(): Promise<void> {
    while (!over.aborted && (state.open > MOST_OPEN || accepted() >= share())) await pause(50);
  }

  async function killAtRandom(random: Random): Promise<void> {
    while (killed.length < kills && !over.aborted) {
      await pause(PAUSE_MS[0] + random.integer(PAUSE_MS[1] - PAUSE_MS[0]));
      // The seed also gives the second choice, for a process that does not run now.
      const victims = [random.pick(system.victims), random.pick(system.victims)];
      while (!over.aborted && accepted() < Math.min((killed.length / kills) * calls, calls - 1)) await pause(50);
      for (const { name, kill } of victims) {
        state.killing = name;
        if (!(await kill())) continue;
        state.killing = 'nothing';
        killed.push(name);
        if (killed.length % KILLS_IN_A_ROW === 0 && killed.length < kills)
          await pause(REST_MS, undefined, { signal: over }).catch(() => {});
        break;
      }
    }
  }

  const began = performance.now();
  const watch = new AbortController();
  const stuck = new Map<string, OpenCall>();
  const watching = watchOpen(system, firms, watch.signal, (calls) => {
    state.open = calls.length;
    for (const call of calls) if (call.openMs > STUCK_AFTER_MS) stuck.set(call.uuid, call);
  });
  const telling = setInterval(() => {
    const seconds = Math.round((performance.now() - began) / 1000);
    say(
      `${seconds} s: ${accepted()} of ${calls} calls accepted, ${state.open} open, ${killed.length} of ${kills} kills, waiting for ${state.killing}`,
    );
    // The load does not get on: say why.
    if (accepted() === state.accepted) {
      const last = firms.map(({ client }) => client.seen.slice(-3).map((seen) => `${seen.request}: ${seen.outcome}`));
      say(`the last answers by firm: ${JSON.stringify(last)}`);
    }
    state.accepted = accepted();
  }, SAY_EVERY_MS);
  say('the load begins');
  try {
    const parts = firms.map((firm, index) =>
      work(firm, {
        calls: Math.floor(calls / FIRMS) + (index < calls % FIRMS ? 1 : 0),
        random: randomOf(seed, `firm ${index}`),
        mayGoOn,
        over,
        failed: failed.signal,
      }),
    );
    await Promise.all(
      [...parts, killAtRandom(randomOf(seed, 'kills'))].map((part) =>
        part.catch((error: unknown) => {
          failed.abort();
          throw error;
        }),
      ),
    );
    const load = performance.now() - began;
    const mark = performance.now();
    const total = accepted();
    say(`${total} calls accepted, ${killed.length} kills in ${Math.round(load / 1000)} s; waiting for the last calls`);
    await waitForEnd(system, firms);
    clearInterval(telling);
    say('comparing what is stored with what was accepted');
    const verdicts = await judgeWhenQuiet(system, firms, receiver);
    const settling = performance.now() - mark;
    const answers = firms.flatMap(({ client }) => client.seen);
    // The number of deviations by kind, and the first of each.
    const faults = Object.fromEntries(
      [
        ['stuck', [...stuck.values()]] as const,
        ['unexpectedDeadLetters', await unexpectedDeadLetters(system, firms)] as const,
        ...Object.keys(verdicts[0]!.faults).map(
          (kind) => [kind, verdicts.flatMap((verdict) => verdict.faults[kind]!)] as const,
        ),
      ].map(([kind, found]) => [kind, { count: found.length, first: found.slice(0, SHOWN) }]),
    );
    const holds = Object.values(faults).every(({ count }) => count === 0) && !failed.signal.aborted;
    if (!holds) say(`The last lines of the services:\n${system.stderr()}`);
    return {
      arrangement: options.isDistributed ? 'a process for each service, Kafka, S3' : 'one process',
      seed,
      accepted: total,
      erased: firms.reduce((sum, { erased }) => sum + erased.length, 0),
      kills: counted(killed),
      requests: {
        sent: answers.length,
        withoutAnswer: answers.filter(({ outcome }) => outcome === 'no answer').length,
        unavailable: answers.filter(({ outcome }) => outcome.startsWith('503')).length,
      },
      byStatus: counted(verdicts.flatMap(({ statuses }) => statuses)),
      failures: counted(verdicts.flatMap(({ failures }) => failures)),
      webhooks: receiver.counts(),
      objectsAwaitingSweep: verdicts.reduce((all, { awaitingSweep }) => all + awaitingSweep, 0),
      seconds: {
        load: Math.round(load / 1000),
        // From the last kill until every call had ended and every queue was empty.
        settling: Math.round(settling / 1000),
        // From acceptance to the end of a call.
        ...(await durations(system)),
      },
      slowest: await slowestCall(system),
      faults,
      holds,
      ...(!holds && {
        lookAt: `"faults" names the calls and keys. Run it again with --seed ${seed}, look at the log of the services on standard error, and compare with docs/failures.md.`,
      }),
    };
  } finally {
    clearInterval(telling);
    watch.abort();
    await watching;
  }
}

interface OpenCall {
  readonly uuid: string;
  readonly status: string;
  readonly openMs: number;
}

/** Looks at the calls that have not ended. While the database does not run, there is nothing to see. */
async function watchOpen(
  { stored }: SoakSystem,
  firms: readonly Firm[],
  over: AbortSignal,
  found: (calls: readonly OpenCall[]) => void,
) {
  while (!over.aborted) {
    await rows<OpenCall>(
      stored.databaseUrls['ingest']!,
      `SELECT uuid, status, partner_call_id, extract(epoch FROM now() - created_at)::float8 * 1000 AS "openMs" FROM ingest.call
       WHERE firm_uuid = ANY($1) AND status NOT IN ('completed', 'failed', 'canceled')`,
      [firms.map(({ uuid }) => uuid)],
    ).then(found, () => {});
    await pause(500, undefined, { signal: over }).catch(() => {});
  }
}

/** Waits until all calls have ended, all queues are empty and all webhooks are delivered. */
async function waitForEnd(system: SoakSystem, firms: readonly Firm[]): Promise<void> {
  const giveUpAt = Date.now() + GIVE_UP_MS;
  for (const { uuid } of firms) await settled(system.stored, uuid, giveUpAt - Date.now()).catch(() => {});
  // Deliveries that failed wait for their next attempt.
  while (Date.now() < giveUpAt && (await pendingDeliveries(system)) > 0) await pause(250);
}

async function judgeWhenQuiet(system: SoakSystem, firms: readonly Firm[], receiver: Receiver): Promise<Verdict[]> {
  const giveUpAt = Date.now() + QUIET_WITHIN_MS;
  for (;;) {
    const verdicts: Verdict[] = [];
    for (const firm of firms) verdicts.push(await judge(system.stored, firm, receiver));
    const isQuiet = verdicts.every(({ faults }) => Object.values(faults).every((found) => found.length === 0));
    if (isQuiet || Date.now() > giveUpAt) return verdicts;
    await pause(2_000);
  }
}

async function pendingDeliveries({ stored }: SoakSystem): Promise<number> {
  const [row] = await rows<{ n: number }>(
    stored.databaseUrls['webhooks']!,
    `SELECT count(*)::int AS n FROM webhooks.delivery WHERE status = 'pending'`,
  );
  return row!.n;
}

/** Dead letters are expected of calls that failed, and of no others. */
async function unexpectedDeadLetters({ stored }: SoakSystem, firms: readonly Firm[]): Promise<unknown[]> {
  const failed = await rows<{ uuid: string }>(
    stored.databaseUrls['ingest']!,
    `SELECT uuid FROM ingest.call WHERE firm_uuid = ANY($1) AND status = 'failed'`,
    [firms.map(({ uuid }) => uuid)],
  );
  const known = new Set(failed.map(({ uuid }) => uuid));
  return (await stored.deadLetters()).filter((letter) => !known.has((letter as { subject: string }).subject));
}

async function durations({ stored }: SoakSystem) {
  const [row] = await rows<{ median: number; p99: number; longest: number }>(
    stored.databaseUrls['ingest']!,
    `SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY s)::numeric, 1)::float8 AS median,
            round(percentile_cont(0.99) WITHIN GROUP (ORDER BY s)::numeric, 1)::float8 AS p99,
            round(max(s), 1)::float8 AS longest
       FROM (SELECT extract(epoch FROM (history->-1->>'at')::timestamptz - created_at) AS s FROM ingest.call) AS ended`,
  );
  return row!;
}

/** The history of the call that took longest. */
async function slowestCall({ stored }: SoakSystem): Promise<unknown> {
  const [call] = await rows(
    stored.databaseUrls['ingest']!,
    `SELECT uuid, source, created_at AS "createdAt", attempt, history FROM ingest.call
     ORDER BY (history->-1->>'at')::timestamptz - created_at DESC LIMIT 1`,
  );
  return call;
}
