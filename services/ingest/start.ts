import { fileURLToPath } from 'node:url';
import { openBus } from '@call-analysis/bus';
import { openObjects } from '@call-analysis/objects';
import { openDatabase } from '@call-analysis/postgres';
import { serve } from '@call-analysis/rpc';
import type { Logger } from '@call-analysis/runtime';
import { Closing } from '@call-analysis/runtime';
import type { Config } from './config.ts';
import { tendCampaigns } from './campaigns/tend-campaigns.ts';
import { consumers } from './consumers.ts';
import { dialFirms } from './firms.ts';
import { rpcs } from './grpc.ts';
import { keepIndexed } from './index-calls.ts';
import { watchCalls } from './metrics.ts';
import { openStore } from './store/index.ts';
import { sweep } from './sweep.ts';

export type { Config } from './config.ts';
export { defaultLimits } from './config.ts';

export const schema = 'ingest';
export const migrations = fileURLToPath(new URL('./prisma/migrations', import.meta.url));

const SWEEP_EVERY_MS = 10 * 60 * 1000;
const TEND_EVERY_MS = 5_000;

/** Starts the service on a database that has been migrated. */
export async function start(
  config: Config,
  parts: { log: Logger },
): Promise<{ address: string; close(): Promise<void> }> {
  const { log } = parts;
  const closing = new Closing(log);
  try {
    const db = openDatabase({ url: config.databaseUrl, schema, applicationName: 'ingest' });
    closing.add('database', () => db.close());
    closing.add('metrics of the calls', watchCalls(db));
    const store = openStore(db, config.databaseUrl);
    closing.add('store', () => store.close());
    const objects = await openObjects(config.objects);
    const bus = await openBus(config.bus, { name: 'ingest', log });
    closing.add('bus', () => bus.close());
    const firms = dialFirms(config.keyManagement);
    closing.add('key-management client', () => firms.close());

    for (const subscription of consumers({ store, bus, objects }, config.retries)) {
      const subscribed = await bus.subscribe(subscription);
      closing.add(subscription.consumer, () => subscribed.stop());
    }
    const server = await serve({
      address: config.listen,
      services: [rpcs({ store, bus, objects, firms, limits: config.limits })],
      log,
      ready: async () => {
        await db.query('SELECT 1');
      },
    });
    closing.add('rpc', () => server.stop());

    let sweeping = Promise.resolve();
    const timer = setInterval(() => {
      sweeping = sweep({ store, objects }, new Date()).catch((error: unknown) => log.error({ err: error }, 'sweep failed'));
    }, SWEEP_EVERY_MS);
    closing.add('sweep', async () => {
      clearInterval(timer);
      await sweeping;
    });
    const indexing = keepIndexed(store, log);
    closing.add('index of calls', () => indexing.stop());
    let tending = Promise.resolve();
    const tender = setInterval(() => {
      tending = tendCampaigns({ store, bus }).catch((error: unknown) => log.error({ err: error }, 'tending campaigns failed'));
    }, TEND_EVERY_MS);
    closing.add('campaigns', async () => {
      clearInterval(tender);
      await tending;
    });
    return { address: server.address, close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}
