import { fileURLToPath } from 'node:url';
import { type Bus, type KafkaUse, openBus, prepareBus, type Subscription } from '@call-analysis/bus';
import { type FirmData, removeFirm, sweepRemovedFirms } from '@call-analysis/call-processing';
import { ValueCipher } from '@call-analysis/encryption';
import { type Event, type EventType, FirmRemoved } from '@call-analysis/events';
import { type Objects, openStore } from '@call-analysis/objects';
import { type Database, migrate, openDatabase, requireMigrated, shareConnections } from '@call-analysis/postgres';
import { type Implementation, serve } from '@call-analysis/rpc';
import {
  Closing,
  exportParts,
  type Logger,
  type Part,
  Readiness,
  type RunningService,
  timeLeft,
  type TimeLeft,
} from '@call-analysis/runtime';
import type { DatabaseConfig, ObjectsServiceConfig, RpcConfig } from './config.ts';
import { consume, type Consumer, consumedBy, subscriptionOf } from './consumers.ts';

type AnyConfig = DatabaseConfig & Partial<ObjectsServiceConfig> & Partial<RpcConfig>;

/** The dependencies that every service has when it opens its own. */
export interface Host<Config> {
  readonly config: Config;
  readonly log: Logger;
  /** On the service's schema, which has been migrated. */
  readonly db: Database;
  readonly bus: Bus;
  /** Of the configuration's `objects`; absent in a service without. */
  readonly objects: Config extends ObjectsServiceConfig ? Objects : undefined;
  /** Steps added here run after the consumers, the RPC server and the bus have closed, the last one first. */
  readonly closing: Closing;
  /** Aborts when the time for closing is over; the work in progress then has `settleMs` to end. */
  readonly interrupted: AbortSignal;
}

/** Work that a service repeats, never twice at the same time. A failure is logged and the next run goes on. */
export interface Schedule {
  readonly name: string;
  readonly everyMs: number;
  run(now: Date): Promise<unknown>;
}

export interface ServiceDefinition<Config, Deps, Replacements> {
  readonly name: string;
  /** The folder of the service's migrations. */
  readonly migrations: URL;
  readonly publishes: readonly EventType[];
  readonly consumers: readonly Consumer<Deps>[];
  /** Absent: this service holds no data of firms, or removes it itself. */
  firmData?(deps: Deps): FirmData;
  /** Events that every replica receives while it runs, at most once. */
  readonly listeners?: readonly { readonly event: EventType; receive(deps: Deps, event: Event): void }[];
  /** Opens the dependencies that consumers and RPCs work with. `replacements` are a test's, instead of the configured ones. */
  open(host: Host<Config>, replacements: Partial<Replacements>): Promise<Deps> | Deps;
  rpcs?(deps: Deps, config: Config): Implementation[];
  /** The dependencies for /readyz besides the database, object store and bus. */
  dependencies?(deps: Deps): readonly Part[];
  schedules?(deps: Deps, config: Config): readonly Schedule[];
  /** How long a handler may take to end after it was interrupted, in milliseconds. Default 500. */
  readonly settleMs?: number;
  /**
   * Closing waits no longer than this for handlers, then hands their events back untried. Default: all of the time
   * left.
   */
  readonly handBackAfterMs?: number;
}

interface Service<Config, Replacements> {
  readonly schema: string;
  readonly migrations: string;
  readonly events: KafkaUse;
  /** Brings tables, queues and topics up to date. Safe to repeat, and for several processes at the same time. */
  prepare(config: Config, deps: { log: Logger }): Promise<void>;
  /**
   * Starts on a database that has been migrated. `left` is how long work in progress may take once `close` is called.
   */
  start(
    config: Config,
    deps: { log: Logger; left?: TimeLeft } & Partial<Replacements>,
  ): Promise<RunningService & { address: string }>;
}

/**
 * A service by what is its own; the rest is the same for all. It starts in this order: database, bus, own dependencies,
 * consumers, listeners, RPC server, schedules. It closes in this order: schedules, consumers stop taking events, the
 * RPC server ends its calls, handlers end, bus, own dependencies, database.
 */
export function defineService<Config extends AnyConfig, Deps, Replacements = object>(
  definition: ServiceDefinition<Config, Deps, Replacements>,
): Service<Config, Replacements> {
  const { name, publishes, consumers } = definition;
  const schema = name.replaceAll('-', '_');
  const migrations = fileURLToPath(definition.migrations);
  const listened = (definition.listeners ?? []).map(({ event }) => event);
  const removals = definition.firmData === undefined ? [] : [`${name}.firm-removals`];
  const removed = removals.length === 0 ? [] : [FirmRemoved];
  const events = {
    publishes,
    consumes: [...new Set([...consumedBy(consumers as readonly Consumer<never>[]), ...removed, ...listened])],
    consumers: [...consumers.map(({ consumer }) => consumer), ...removals],
    listens: listened.length > 0,
  };
  return {
    schema,
    migrations,
    events,

    async prepare(config, { log }) {
      await migrate({ url: config.databaseUrl, schema, folder: migrations });
      await prepareBus(config.bus, events, { name, log });
    },

    async start(config, { log, left = timeLeft(), ...replacements }) {
      const closing = new Closing(log);
      try {
        const { own: poolSize } = shareConnections(config.connections);
        const store = config.objects === undefined ? undefined : await openStore(config.objects, { log });
        const dataKeys = store?.dataKeys ?? null;
        const cipher = dataKeys === null ? null : new ValueCipher(dataKeys);
        const db = openDatabase({ url: config.databaseUrl, schema, poolSize, applicationName: name, cipher });
        closing.add('database', () => db.close());
        await requireMigrated(db, migrations, `npm run service -- ${name} migrate`);
        const objects = store?.objects;
        const bus = await openBus(config.bus, {
          name,
          log,
          ...(definition.handBackAfterMs !== undefined && { closeWithinMs: definition.handBackAfterMs }),
        });
        const interruption = new AbortController();
        const host = {
          config,
          log,
          db,
          bus,
          objects,
          closing,
          interrupted: interruption.signal,
        } as Host<Config>;
        const deps = await opened(bus, () => definition.open(host, replacements as Partial<Replacements>));
        closing.add('bus', () => bus.close());

        const firmData = definition.firmData?.(deps);
        const firmRemovals = removals.map((consumer): Consumer<Deps> => ({
          consumer,
          // Never given up: key-management publishes the event again until every service has removed its data.
          retries: 10,
          routes: [
            consume(FirmRemoved, {
              each: (_, event) => removeFirm({ service: name, db, bus, objects }, firmData!, event),
            }),
          ],
        }));
        const subscriptions: Subscription[] = [];
        for (const consumer of [...consumers, ...firmRemovals])
          subscriptions.push(await bus.subscribe(subscriptionOf(consumer, deps, config.retries)));
        if (definition.handBackAfterMs === undefined) {
          const settleMs = definition.settleMs ?? SETTLE_MS;
          closing.add('consumers', () => stopConsumers(subscriptions, interruption, left, settleMs));
        }
        for (const { event, receive } of definition.listeners ?? []) {
          await bus.listen(event, (received) => receive(deps, received));
        }
        const readiness = new Readiness([
          { name: 'database', vital: true, check: () => db.query('SELECT 1') },
          ...(objects === undefined ? [] : [{ name: 'object store', vital: true, check: () => objects.ready() }]),
          ...(config.bus.transport === 'kafka' ? [{ name: 'kafka', vital: false, check: () => bus.ready() }] : []),
          ...(definition.dependencies?.(deps) ?? []),
        ]);
        closing.add('metrics of parts', exportParts(name, readiness));
        let address = '';
        if (definition.rpcs !== undefined && config.listen !== undefined) {
          const server = await serve({
            address: config.listen,
            services: definition.rpcs(deps, config),
            log,
            ready: () => readiness.demand(),
            tls: config.tls,
            reflection: config.reflection,
          });
          closing.add('rpc', () => server.stop(left()));
          address = server.address;
        }
        // Handlers have the same time as RPCs, and no further event is taken.
        closing.add('new events', () => {
          for (const each of subscriptions) void each.stop().catch(() => {});
        });
        const sweeps = removals.map(() => ({
          name: 'removed firms',
          everyMs: 10 * 60_000,
          run: () => sweepRemovedFirms({ db, objects }, firmData!),
        }));
        for (const schedule of [...(definition.schedules?.(deps, config) ?? []), ...sweeps]) {
          const stop = repeat(schedule, log);
          closing.add(schedule.name, stop);
        }
        return { address, readiness, close: () => closing.close() };
      } catch (error) {
        await closing.close();
        throw error;
      }
    },
  };
}

/** A handler that is nearly done may end although the time is over. */
const SETTLE_MS = 500;

/** Opens a service's own dependencies; when that fails, the bus is closed too. */
async function opened<Deps>(bus: Bus, open: () => Promise<Deps> | Deps): Promise<Deps> {
  try {
    return await open();
  } catch (error) {
    await bus.close();
    throw error;
  }
}

async function stopConsumers(
  subscriptions: readonly Subscription[],
  interruption: AbortController,
  left: TimeLeft,
  settleMs: number,
): Promise<void> {
  const timer = setTimeout(() => interruption.abort(new Error('The service stops.')), left());
  const stopped = await Promise.allSettled(subscriptions.map((each) => each.stop(left() + settleMs)));
  clearTimeout(timer);
  const failed = stopped.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Returns what stops it, after the run in progress. */
function repeat({ name, everyMs, run }: Schedule, log: Logger): () => Promise<void> {
  let running: Promise<unknown> | undefined;
  const timer = setInterval(() => {
    running ??= run(new Date())
      .catch((error: unknown) => log.error({ err: error }, `${name} failed`))
      .finally(() => (running = undefined));
  }, everyMs);
  return async () => {
    clearInterval(timer);
    await running;
  };
}
