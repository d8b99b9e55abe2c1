import { openBus, prepareBus, type Subscription } from '@call-analysis/bus';
import { ApiKeyRevoked, AuditEntryCreated } from '@call-analysis/events';
import { migrate, openDatabase, prismaAdapter, requireMigrated, shareConnections } from '@call-analysis/postgres';
import { serve } from '@call-analysis/rpc';
import { Closing, type Logger, Readiness, type RunningService, type TimeLeft, timeLeft } from '@call-analysis/runtime';
import { recordUses } from './api-keys/record-use.ts';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import { keyHasher } from './domain.ts';
import { PrismaClient } from './generated/client.ts';
import { keyManagementService } from './grpc.ts';
import { openStore, schema } from './store.ts';

export { PepperVariables } from './config.ts';
export { schema };
export type { Config };

/** The folder of this service's migrations, for whoever migrates before the start. */
export const migrations = new URL('./prisma/migrations/', import.meta.url);

export const facts = { publishes: [ApiKeyRevoked], consumes: [AuditEntryCreated] };

/** A handler that is nearly done may end, even when the time is over. */
const LEAST_MS = 500;

/** Brings tables, queues and topics up to date; safe to do again, and by several at once. */
export async function prepare(config: Config, { log }: { log: Logger }): Promise<void> {
  await migrate({ url: config.databaseUrl, schema, folder: migrations });
  await prepareBus(config.bus, facts, { name: 'key-management', log });
}

/** Serves on a migrated database. `address` is what `dial` takes. Closing writes the last uses of keys. */
export async function start(
  config: Config,
  parts: { log: Logger; left?: TimeLeft },
): Promise<RunningService & { address: string }> {
  const { log, left = timeLeft() } = parts;
  const closing = new Closing(log);
  try {
    const connection = { url: config.databaseUrl, schema };
    const poolSize = shareConnections(config.connections).own;
    const database = openDatabase({ ...connection, poolSize, applicationName: 'key-management' });
    closing.add('database', () => database.close());
    await requireMigrated(database, migrations, 'npm run service -- key-management migrate');
    const prisma = new PrismaClient({ adapter: prismaAdapter(database) });
    closing.add('prisma', () => prisma.$disconnect());
    const bus = await openBus(config.bus, { name: 'key-management', log });
    closing.add('bus', () => bus.close());

    const store = openStore({ prisma, database, bus });
    const uses = recordUses({ store, log });
    const subscriptions: Subscription[] = [];
    for (const subscription of consumers(store)) {
      const subscribed = await bus.subscribe(subscription);
      subscriptions.push(subscribed);
      closing.add(subscription.consumer, () => subscribed.stop(left(LEAST_MS)));
    }
    // A database that has gone silent must not hold up the end; the uses of the last seconds are then lost.
    closing.add('uses of keys', () => uses.close(), { boundMs: 3_000 });
    const service = keyManagementService({ store, hashKey: keyHasher(config.pepper), uses });
    const readiness = new Readiness([
      { name: 'database', vital: true, check: () => store.ping() },
      ...(config.bus.transport === 'kafka' ? [{ name: 'kafka', vital: false, check: () => bus.ready() }] : []),
    ]);
    const server = await serve({
      address: config.listen,
      services: [service],
      log,
      ready: () => readiness.demand(),
      tls: config.tls,
      reflection: config.reflection,
    });
    closing.add('server', () => server.stop(left()));
    // What is in hand has the whole time too, and nothing is taken beside it.
    closing.add('new events', () => {
      for (const each of subscriptions) void each.stop().catch(() => {});
    });
    return { address: server.address, readiness, close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}
