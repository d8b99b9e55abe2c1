import { setTimeout as pause } from 'node:timers/promises';
import { randomOf } from '@call-analysis/testing';
import { startKillableSystem } from '../distributed/test/killable-system.ts';
import { startLoad } from '../distributed/test/load.ts';
import { settled, storedBy } from '../distributed/test/reconciliation.ts';
import type { Seen } from '../distributed/test/retrying-client.ts';
import { type DistributedSystem, type Replica, SERVICES } from '../distributed/test/system.ts';
import { newFirm, quiet, speech } from './firm.ts';
import { counted } from './judge.ts';
import { startReceiver } from './receiver.ts';
import { isReady } from './six-processes.ts';
import { VARIABLES } from './system.ts';

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
const SETTLED_WITHIN_MS = 300_000;

/**
 * Restarts the services one after the other under load, each replica in turn: starts a new one, waits until it is ready, and
 * stops the old one (SIGTERM). A request that failed counts even if its repetition succeeded.
 */
export async function rollingRestarts({ restarts, over, say }: RollingOptions) {
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
    const address = {
      administration: system.administration,
      get url() {
        return balancer.next();
      },
    };
    const { client, uuid } = await newFirm(address, receiver);
    const loads = Array.from({ length: 3 }, () => startLoad(client, { silence: quiet, speech }));
    const began = performance.now();
    const restarted: string[] = [];
    let replaced = 0;
    while (restarted.length < restarts && !over.aborted) {
      const service = SERVICES[restarted.length % SERVICES.length]!;
      for (const old of system.replicas(service)) {
        await isReady(await system.start(service));
        await old.kill('SIGTERM');
        if (old.child.exitCode !== 0) throw new Error(`${service} ended with ${old.child.exitCode}:\n${old.stderr()}`);
        replaced += 1;
      }
      restarted.push(service);
      const failed = client.seen.filter(isFailed);
      say(
        `${Math.round((performance.now() - began) / 1000)} s: ${restarted.length} of ${restarts} restarts (${service}), ${client.seen.length} requests, ${failed.length} failed ${JSON.stringify(failed.at(-1) ?? '')}`,
      );
      await pause(500);
    }
    await Promise.all(loads.map((load) => load.stop()));
    const load = performance.now() - began;
    await settled(stored, uuid, SETTLED_WITHIN_MS);
    const failed = client.seen.filter(isFailed);
    return {
      restarts: counted(restarted),
      processesReplaced: replaced,
      accepted: client.accepted.size,
      requests: counted(client.seen.map(({ request }) => request)),
      failed,
      seconds: {
        load: Math.round(load / 1000),
        settling: Math.round((performance.now() - began - load) / 1000),
        slowestRequest: Math.max(...client.seen.map(({ ms }) => ms)) / 1000,
      },
      holds: failed.length === 0 && restarted.length === restarts,
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

/** Chooses gateways in turn among those that say they take requests, as a load balancer does. It repeats nothing. */
function balance(system: DistributedSystem) {
  let serving: readonly Replica[] = system.replicas('gateway').slice();
  let turn = 0;
  const over = new AbortController();
  void (async () => {
    while (!over.signal.aborted) {
      const replicas = system.replicas('gateway').slice();
      const answers = await Promise.all(
        replicas.map(({ healthUrl }) => fetch(`${healthUrl}/serving`).catch(() => null)),
      );
      const found = replicas.filter((_, index) => answers[index]?.ok === true);
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
