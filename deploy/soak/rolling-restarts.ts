import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { randomOf, waitUntil } from '@call-analysis/testing';
import { startKillableSystem } from '../distributed/test/killable-system.ts';
import { startLoad } from '../distributed/test/load.ts';
import { settled, storedBy } from '../distributed/test/reconciliation.ts';
import type { Seen } from '../distributed/test/retrying-client.ts';
import { type DistributedSystem, type Replica, SERVICES } from '../distributed/test/system.ts';
import { silence } from '../standalone/test/client/silence.ts';
import { newFirm } from './firm.ts';
import { startReceiver } from './receiver.ts';
import { VARIABLES } from './system.ts';

interface RollingFigures {
  readonly restarts: Readonly<Record<string, number>>;
  readonly processesReplaced: number;
  readonly accepted: number;
  readonly requests: Readonly<Record<string, number>>;
  readonly failed: readonly Seen[];
  readonly seconds: { readonly load: number; readonly settling: number; readonly slowestRequest: number };
  readonly holds: boolean;
}

interface RollingOptions {
  readonly restarts: number;
  /** Ends the restarts early. */
  readonly over: AbortSignal;
  say(line: string): void;
}

const GATEWAYS = 2;
/** How often the load balancer asks a gateway whether it still takes requests. */
const ASK_EVERY_MS = 200;
/** Longer than the load balancer needs to notice. */
const DRAIN = '2s';
const READY_WITHIN_MS = 120_000;
const SETTLED_WITHIN_MS = 300_000;

const quiet = new Uint8Array(silence(1));
const speech = new Uint8Array(
  await readFile(new URL('../../services/transcription/fixtures/two-voices.wav', import.meta.url)),
);

/**
 * Restarts the services one after the other under load, each replica in turn: starts a new one, waits until it is ready, and
 * stops the old one (SIGTERM). A request that failed counts even if its repetition succeeded.
 */
export async function rollingRestarts({ restarts, over, say }: RollingOptions): Promise<RollingFigures> {
  const world = await startKillableSystem({
    variables: { all: VARIABLES, gateway: { DRAIN }, webhooks: { WEBHOOK_ALLOW_PRIVATE: 'true' } },
    onLine: (service, line) => say(`${service}: ${line}`),
  });
  const { system } = world;
  const receiver = await startReceiver(randomOf(0, 'receiver'));
  const balancer = balance(system);
  try {
    for (let count = 1; count < GATEWAYS; count++) await isReady(await system.start('gateway'));
    const stored = storedBy(system, { ...world.kafka, prefix: world.kafkaPrefix });
    const firm = await newFirm(
      {
        get url() {
          return balancer.next();
        },
        administration: system.administration,
        stored,
        victims: [],
        stderr: () => '',
        stop: async () => {},
      },
      receiver,
    );
    const { client } = firm;
    const loads = Array.from({ length: 3 }, () => startLoad(client, { silence: quiet, speech }));
    const began = performance.now();
    const done: Record<string, number> = {};
    let restarted = 0;
    let replaced = 0;
    while (restarted < restarts && !over.aborted) {
      const service = SERVICES[restarted % SERVICES.length]!;
      for (const old of system.replicas(service)) {
        await isReady(await system.start(service));
        await old.kill('SIGTERM');
        if (old.child.exitCode !== 0) throw new Error(`${service} ended with ${old.child.exitCode}:\n${old.stderr()}`);
        replaced += 1;
      }
      done[service] = (done[service] ?? 0) + 1;
      restarted += 1;
      const failed = client.seen.filter(isFailed);
      say(
        `${Math.round((performance.now() - began) / 1000)} s: ${restarted} of ${restarts} restarts (${service}), ${client.seen.length} requests, ${failed.length} failed ${JSON.stringify(failed.at(-1) ?? '')}`,
      );
      await pause(500);
    }
    await Promise.all(loads.map((load) => load.stop()));
    const load = performance.now() - began;
    await settled(stored, firm.uuid, SETTLED_WITHIN_MS);
    const requests: Record<string, number> = {};
    for (const { request } of client.seen) requests[request] = (requests[request] ?? 0) + 1;
    const failed = client.seen.filter(isFailed);
    return {
      restarts: done,
      processesReplaced: replaced,
      accepted: client.accepted.size,
      requests,
      failed,
      seconds: {
        load: Math.round(load / 1000),
        settling: Math.round((performance.now() - began - load) / 1000),
        slowestRequest: Math.max(...client.seen.map(({ ms }) => ms)) / 1000,
      },
      holds: failed.length === 0 && restarted === restarts,
    };
  } finally {
    balancer.stop();
    await world.stop();
    receiver.stop();
  }
}

function isFailed({ outcome }: Seen): boolean {
  return !outcome.startsWith('2');
}

async function isReady({ healthUrl }: Replica): Promise<void> {
  await waitUntil(async () => (await fetch(`${healthUrl}/readyz`)).ok, { timeoutMs: READY_WITHIN_MS });
}

/** Chooses gateways in turn among those that say they take requests, as a load balancer does. It repeats nothing. */
function balance(system: DistributedSystem) {
  let serving: readonly Replica[] = system.replicas('gateway').slice();
  let turn = 0;
  const over = new AbortController();
  void (async () => {
    while (!over.signal.aborted) {
      const replicas = system.replicas('gateway').slice();
      const answers = await Promise.all(
        replicas.map(({ healthUrl }) =>
          fetch(`${healthUrl}/serving`).then(
            ({ ok }) => ok,
            () => false,
          ),
        ),
      );
      const found = replicas.filter((_, index) => answers[index]);
      if (found.length > 0) serving = found;
      await pause(ASK_EVERY_MS);
    }
  })();
  return {
    next(): string {
      turn += 1;
      return `http://${serving[turn % serving.length]!.address}`;
    },
    stop: () => over.abort(),
  };
}
