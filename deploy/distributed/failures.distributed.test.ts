import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { long, waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../standalone/test/client/retry.ts';
import { silence } from '../standalone/test/client/silence.ts';
import {
  type Answer,
  type Edge,
  edgePromises,
  type Fault,
  FAULTS,
  type Killed,
  killPromises,
  type Request,
} from './test/failures/promises.ts';
import { type FaultySystem, startFaultySystem } from './test/faulty-system.ts';
import { type Load, startLoad } from './test/load.ts';
import { reconcile, settled, storedBy } from './test/reconciliation.ts';
import { HANGS_MS, RetryingClient, type Reply, type Seen, transcripts } from './test/retrying-client.ts';
import { type Replica, type ServiceName, SERVICES } from './test/system.ts';

/** In the long run every fault of every link; otherwise `refused` and one or two others, so that each fault is covered. */
const ROUNDS = edgePromises.flatMap(({ edge, answers }, index) =>
  FAULTS.filter((_, number) => long || number === 0 || (number + index) % 4 === 0)
    .filter((fault) => Object.values(answers).some((each) => fault in each))
    .map((fault) => [edge, fault] as const),
);
/** The shortest and longest duration of a fault. Requests without an answer by then must get one soon after. */
const LASTS_MS = { least: 1_000, most: long ? 105_000 : 12_000 };
/** No one gives up a stalled process within this time, so a broken promise before it is not the machine's fault. */
const STOOD_STILL_MS = 2_000;
/** The most rounds of a test. In one of them nothing may be late. */
const MOST_ROUNDS = 3;
/** The duration of a fault during which no request gets an answer. */
const SILENT_MS = 4_000;
const RESTART_AFTER_MS = 1_000;
/** How long an upload continues after its gateway got SIGTERM: longer than DRAIN and the default CLOSE_TIMEOUT. */
const SLOW_MS = 17_000;
const KAFKA_AWAY_MS = long ? 60_000 : 20_000;

const speech = new Uint8Array(
  await readFile(new URL('../../services/transcription/fixtures/two-voices.wav', import.meta.url)),
);
const quiet = new Uint8Array(silence(1));

let world: FaultySystem;
let firmUuid: string;
let client: RetryingClient;
let load: Load;
/** The gateway that gets the load. A load balancer would choose one that is ready. */
let gateway: () => string;

/** Prints figures with TEST_FIGURES=on, to see the margin of each promise. */
function note(figure: object): void {
  if (process.env['TEST_FIGURES'] === 'on') process.stderr.write(`${JSON.stringify(figure)}\n`);
}

beforeAll(async () => {
  world = await startFaultySystem();
  gateway = () => world.gatewayLink;
  firmUuid = await world.newFirm();
  const superuser = new RetryingClient(await world.newUser(firmUuid, 'SUPERUSER'), () => world.system.url);
  const { body } = await superuser.retry(() =>
    superuser.ask<{ api_key: string }>('key', 'POST', '/external/api/v1/api-key', { firm_uuid: firmUuid }),
  );
  client = new RetryingClient({ ...(await world.newUser(firmUuid)), apiKey: body.api_key }, () => gateway());
  load = startLoad(client, { silence: quiet, speech });
}, 300_000);

afterAll(async () => {
  await load?.stop().catch(() => {});
  await world?.stop();
}, 120_000);

/** Sends the requests of a promise. */
class Prober {
  /** The user of the upload sessions, which other users may not process. */
  readonly #opener: RetryingClient;
  /** Sends the other requests: a user whom the gateway has not cached, or the same user. */
  readonly #asker: RetryingClient;
  #key = '';
  #url = '';

  private constructor(opener: RetryingClient, asker: RetryingClient) {
    this.#opener = opener;
    this.#asker = asker;
  }

  /** Prepares uploads while everything works. */
  static async open(edge?: Edge, asNewUser = edge?.includes('key-management') === true): Promise<Prober> {
    const reached = () => (edge === 'client → gateway' ? world.gatewayLink : world.system.url);
    const opener = new RetryingClient(await world.newUser(firmUuid), reached);
    const asker = asNewUser ? new RetryingClient(await world.newUser(firmUuid), reached) : opener;
    const prober = new Prober(opener, asker);
    const asked = edgePromises.find((promise) => promise.edge === edge)?.answers;
    if (asked === undefined || 'process' in asked) prober.#key = await opener.prepare();
    if (asked === undefined || 'put' in asked) {
      prober.#url = (await opener.retry(() => opener.openUpload())).body.data.metadata_upload_url;
    }
    await opener.retry(() => opener.list());
    return prober;
  }

  ask(request: Request): Promise<Reply> {
    switch (request) {
      case 'list':
        return this.#asker.list();
      case 'put':
        return this.#opener.put(this.#url, transcripts(['one']));
      case 'process':
        return this.#opener.process(this.#key);
      case 'audio':
        return this.#asker.upload(quiet, crypto.randomUUID());
      case 'scorecards':
        return this.#asker.scorecards();
    }
  }
}

interface Recovery {
  readonly backMs: number;
  readonly completedMs: number;
}

/** The time from now until all these requests succeed, and until a new batch is completed. */
async function recovery(prober: Prober, requests: readonly Request[]): Promise<Recovery> {
  const mark = performance.now();
  for (const request of requests) await client.retry(() => prober.ask(request));
  const backMs = Math.round(performance.now() - mark);
  const canary = new RetryingClient(await world.newUser(firmUuid), () => world.system.url);
  const batch = await canary.batch(1);
  await waitUntil(async () => (await canary.readBatch(batch)).body?.finished_at ?? false, {
    timeoutMs: 180_000,
    everyMs: 50,
  });
  for (const id of canary.accepted) client.accepted.add(id);
  return { backMs, completedMs: Math.round(performance.now() - mark) };
}

type Answered = Reply & { readonly promised: Answer };

/** Descriptions of broken promises. */
interface Verdict {
  readonly wrong: readonly string[];
  /** May be caused by a process that stalled for some seconds. */
  readonly late: readonly string[];
}

interface Promised {
  readonly backS: number;
  readonly completedS: number;
}

/** `spare`: extra time for a busy machine. */
function judge(seen: readonly Answered[], after: Recovery, promise: Promised, spare: Recovery): Verdict {
  const broken = seen.flatMap(({ request, outcome, ms, body, promised: { endings, withinS } }) => {
    const ending = outcome.startsWith('503 UNAVAILABLE') ? '503' : outcome;
    const isKnown = endings.some((each) => each === ending);
    const isInTime = withinS === undefined || ms <= withinS * 1000 + spare.backMs;
    const { message = '' } = Object(body) as { message?: string };
    const words = `${request}: ${outcome} (${message}) after ${ms} ms, not ${endings.join(' or ')} within ${withinS} s`;
    return isKnown && isInTime ? [] : [{ words, isLate: ms >= STOOD_STILL_MS && (isKnown || ending === '503') }];
  });
  const slow = (
    [
      ['requests succeed', after.backMs, promise.backS, spare.backMs],
      ['a new batch is completed', after.completedMs, promise.completedS, spare.completedMs],
    ] as const
  ).flatMap(([what, ms, withinS, spareMs]) =>
    ms <= withinS * 1000 + spareMs ? [] : [`${what} after ${ms} ms, not within ${withinS} s`],
  );
  return {
    wrong: broken.flatMap(({ words, isLate }) => (isLate ? [] : [words])),
    late: [...broken.flatMap(({ words, isLate }) => (isLate ? [words] : [])), ...slow],
  };
}

interface Round {
  readonly verdict: (spare: Recovery) => Verdict;
  /** The same measurement without a fault. */
  readonly control?: () => Promise<Recovery>;
}

const IDLE: Recovery = { backMs: 0, completedMs: 0 };

/**
 * Checks the promises in up to three rounds. A wrong result fails immediately. A late result fails when it is late in every
 * round, by more than twice the time that the same takes without a fault on this machine.
 */
async function checkPromises(round: () => Promise<Round>): Promise<void> {
  for (let rounds = 1; ; rounds++) {
    const { verdict, control: controlled = async () => IDLE } = await round();
    const { wrong, late } = verdict(IDLE);
    expect(wrong).toEqual([]);
    expect(ended()).toEqual([]);
    if (late.length === 0) return;
    const control = await controlled();
    note({ rounds, late, control });
    const still = verdict({ backMs: 2 * control.backMs, completedMs: 2 * control.completedMs }).late;
    if (still.length === 0) return;
    if (rounds === MOST_ROUNDS) expect(still).toEqual([]);
  }
}

/** Sends the request, and repeats it when a process may have stalled. */
async function answerOf(prober: Prober, request: Request): Promise<string> {
  for (let tries = 1; ; tries++) {
    const { outcome, ms } = await prober.ask(request);
    if (outcome === '200' || ms < STOOD_STILL_MS || tries === MOST_ROUNDS) return outcome;
  }
}

function ended(): ServiceName[] {
  return SERVICES.filter((service) => world.system.replicas(service).length === 0);
}

async function readyz(
  service: ServiceName,
): Promise<{ status: number; body: { status: string; degraded?: string[] } }> {
  const [replica] = world.system.replicas(service);
  const response = await fetch(`${replica!.healthUrl}/readyz`);
  return { status: response.status, body: (await response.json()) as { status: string; degraded?: string[] } };
}

/** The sum of a gauge over all its labels. */
async function figure(service: ServiceName, name: string, labels: string): Promise<number> {
  const [replica] = world.system.replicas(service);
  const text = await (await fetch(`${replica!.healthUrl}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes(labels));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

describe('six processes under load', () => {
  it.each(ROUNDS)(
    '%s, %s: answer as promised, and recover in time',
    (edge: Edge, fault: Fault) =>
      checkPromises(async () => {
        const promise = edgePromises.find((each) => each.edge === edge)!;
        const asked = (Object.keys(promise.answers) as Request[]).filter(
          (request) => promise.answers[request]![fault] !== undefined,
        );
        const prober = await Prober.open(edge);
        await world.links.spoil(edge, fault);
        const seen: Answered[] = [];
        let isWhole = false;
        const probes = asked.map(async (request) => {
          const promised = promise.answers[request]![fault]!;
          const reply = await prober.ask(request);
          // Requests that still wait when the link works again may succeed.
          seen.push({
            ...reply,
            promised: isWhole ? { ...promised, endings: [...promised.endings, '200'] } : promised,
          });
        });
        const isSilent = asked.every((request) => promise.answers[request]![fault]!.withinS === undefined);
        await Promise.race([
          Promise.all([...probes, pause(LASTS_MS.least)]),
          pause(isSilent ? SILENT_MS : LASTS_MS.most),
        ]);
        isWhole = true;
        await world.links.heal(edge);
        const healed = performance.now();
        const late = asked.length - seen.length;
        await Promise.all(probes);
        const lateMs = late === 0 ? 0 : Math.round(performance.now() - healed);
        const after = await recovery(prober, asked);
        note({
          edge,
          fault,
          seen: seen.map(({ request, outcome, ms }) => `${request} ${outcome} ${ms}`),
          lateMs,
          ...after,
        });
        return { verdict: (spare) => judge(seen, after, promise, spare), control: () => recovery(prober, asked) };
      }),
    720_000,
  );

  it.each(killPromises.map(({ killed }) => [killed] as const))(
    '%s is killed: answer as promised, and recover in time',
    (killed: Killed) =>
      checkPromises(async () => {
        const promise = killPromises.find((each) => each.killed === killed)!;
        const { answers } = promise;
        const asked = Object.keys(answers) as Request[];
        const prober = await Prober.open(undefined, killed === 'key-management');
        const restart = await kill(killed);
        const seen: Answered[] = [];
        const probes = asked.map(async (request) =>
          seen.push({ ...(await prober.ask(request)), promised: answers[request]! }),
        );
        await Promise.all([...probes, pause(RESTART_AFTER_MS)]);
        const mark = performance.now();
        await restart();
        const restartMs = Math.round(performance.now() - mark);
        const after = await recovery(prober, asked);
        note({
          killed,
          seen: seen.map(({ request, outcome, ms }) => `${request} ${outcome} ${ms}`),
          restartMs,
          ...after,
        });
        return { verdict: (spare) => judge(seen, after, promise, spare), control: () => recovery(prober, asked) };
      }),
    720_000,
  );

  async function kill(killed: Killed): Promise<() => Promise<unknown>> {
    const { kafka, store, postgres, system } = world;
    switch (killed) {
      case 'Kafka':
        await kafka.kill();
        return () => kafka.restart();
      case 'the store':
        await store.kill();
        return () => store.restart();
      case 'PostgreSQL':
        process.kill(postgres.pid, 'SIGKILL');
        // The processes of its connections still answer until they notice.
        await eventually(async () => (await readyz('ingest')).status === 503);
        return () => eventually(() => postgres.restart().then(() => true));
      default:
        await system.replicas(killed)[0]!.kill('SIGKILL');
        return () => system.start(killed);
    }
  }

  it('accept everything during a long outage of Kafka, report it, start without Kafka, and process everything afterwards', async () => {
    const prober = await Prober.open('services → kafka');
    await world.links.spoil('services → kafka', 'refused');
    const until = Date.now() + KAFKA_AWAY_MS;
    const began = client.accepted.size;
    const isWithoutKafka = (service: ServiceName) =>
      eventually(async () => {
        const { status, body } = await readyz(service);
        return status === 200 && body.status === 'ready' && body.degraded?.join() === 'kafka';
      });
    await isWithoutKafka('ingest');
    for (const service of ['ingest', 'gateway'] as const) {
      await world.system.replicas(service)[0]!.kill('SIGKILL');
      await world.system.start(service);
      await isWithoutKafka(service);
    }
    while (Date.now() < until) {
      expect(await answerOf(prober, 'list')).toBe('200');
      await pause(500);
    }
    await eventually(() => client.accepted.size > began + 20);
    await eventually(async () => (await figure('ingest', 'call_analysis_events_waiting', 'consumer="outbox"')) > 20);
    await world.links.heal('services → kafka');
    const after = await recovery(prober, ['list']);
    note({ kafkaAwayMs: KAFKA_AWAY_MS, accepted: client.accepted.size - began, ...after });
    await eventually(async () => (await readyz('ingest')).body.degraded === undefined);
  }, 600_000);

  it(
    'start before the name of another service can be resolved, and connect once it can',
    () =>
      checkPromises(async () => {
        const prober = await Prober.open();
        await world.links.spoil('gateway → ingest', 'no name');
        await world.system.replicas('gateway')[0]!.kill('SIGKILL');
        await world.system.start('gateway');
        expect((await prober.ask('list')).outcome).toBe('503 UNAVAILABLE');
        expect(await answerOf(prober, 'scorecards')).toBe('200');
        expect((await readyz('gateway')).status).toBe(503);
        await world.links.heal('gateway → ingest');
        const after = await recovery(prober, ['list']);
        note({ nameKnownLate: true, ...after });
        const verdict = (spare: Recovery) => judge([], after, { backS: 5, completedS: 10 }, spare);
        return { verdict, control: () => recovery(prober, ['list']) };
      }),
    360_000,
  );

  it('fail no request while the processes are replaced one after the other', async () => {
    world.links.bypass();
    await checkPromises(async () => {
      const seen = client.seen.length;
      await replaceAll();
      const failed = client.seen.slice(seen).filter(({ outcome }) => !outcome.startsWith('20'));
      const isLate = ({ outcome, ms }: Seen) => outcome.startsWith('503 UNAVAILABLE') && ms >= STOOD_STILL_MS;
      // One sender makes the campaigns. The fault before may have cost it the answer to a request that was carried out.
      const before = (each: Seen) =>
        client.seen.slice(0, client.seen.indexOf(each)).findLast(({ request }) => request === each.request);
      const isRepeated = (each: Seen) =>
        each.outcome.startsWith('409') && before(each)?.outcome.startsWith('20') === false;
      const inWords = ({ request, outcome, ms }: Seen) => `${request}: ${outcome} after ${ms} ms`;
      const verdict = () => ({
        wrong: failed.filter((each) => !isLate(each) && !isRepeated(each)).map(inWords),
        late: failed.filter(isLate).map(inWords),
      });
      return { verdict };
    });
  }, 720_000);

  async function replaceAll(): Promise<void> {
    // Callers first: new processes bypass the links, which lead to one process of each service.
    for (const service of ['gateway', 'audio', 'ingest', 'analysis', 'transcription', 'key-management'] as const) {
      const [old] = world.system.replicas(service);
      const fresh = await world.system.start(service);
      await eventually(async () => (await fetch(`${fresh.healthUrl}/readyz`)).ok);
      if (service === 'gateway') await replaceGateway(old!, fresh);
      else await old!.kill('SIGTERM');
      expect([service, old!.child.exitCode]).toEqual([service, 0]);
      await pause(500);
    }
  }

  /** Like a load balancer, sends load to the new gateway once the old one is not ready. The old one finishes its requests. */
  async function replaceGateway(old: Replica, fresh: Replica): Promise<void> {
    const uploader = new RetryingClient(await world.newUser(firmUuid), () => `http://${old.address}`);
    const id = `slow-${randomUUID()}`;
    const goOn = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const uploaded = uploader.uploadSlowly(quiet, id, goOn.promise, begun.resolve);
    await begun.promise;
    const ended = once(old.child, 'exit');
    try {
      old.child.kill('SIGTERM');
      await eventually(async () => !(await fetch(`${old.healthUrl}/serving`)).ok);
      gateway = () => `http://${fresh.address}`;
      await pause(SLOW_MS);
      expect(old.child.exitCode).toBeNull();
    } finally {
      goOn.resolve();
    }
    expect((await uploaded).outcome).toBe('200');
    client.accepted.add(id);
    await ended;
  }

  it('have processed everything that was accepted exactly once', async () => {
    await load.stop();
    const mark = performance.now();
    const stored = storedBy(world.system, { ...world.kafka, prefix: world.kafkaPrefix }, world.links.variables);
    await settled(stored, firmUuid, 400_000);
    const settledMs = Math.round(performance.now() - mark);
    const reconciliation = await reconcile(stored, client, firmUuid);
    note({
      settledMs,
      accepted: client.accepted.size,
      requests: client.seen.length,
      byStatus: reconciliation.byStatus,
    });
    const slowest = client.seen
      .filter(({ outcome }) => outcome !== 'no answer')
      .toSorted((a, b) => b.ms - a.ms)
      .slice(0, 5);
    note({ slowest });
    expect(client.seen.filter(({ ms }) => ms >= HANGS_MS)).toEqual([]);
    expect(reconciliation).toMatchObject({
      lost: [],
      doubled: [],
      failures: [],
      notAnalyzedOnce: [],
      miscounted: [],
      orphans: [],
      withoutRecording: [],
      deadLetters: [],
    });
    expect(Object.values(reconciliation.waiting).filter((count) => count > 0)).toEqual([]);
    expect(reconciliation.byStatus['completed']).toBeGreaterThanOrEqual(client.accepted.size);
  }, 600_000);
});
