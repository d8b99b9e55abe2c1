import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bus, openBus } from '@call-analysis/bus';
import { type Objects, openObjects } from '@call-analysis/objects';
import { type Database, openDatabase } from '@call-analysis/postgres';
import { ingest, keyManagement } from '@call-analysis/proto';
import { dial, serve } from '@call-analysis/rpc';
import { Closing, createLog } from '@call-analysis/runtime';
import type { Firm, Firms } from '@call-analysis/service/firms';
import { serviceDatabase } from '@call-analysis/service/test';
import { openStores, type Stores } from '../deps.ts';
import { limitsFrom, LimitVariables } from '../limits.ts';
import { type Config, migrations, schema, start } from '../start.ts';

export type Client = ReturnType<typeof dialIngest>;

function dialIngest(address: string) {
  return dial(ingest, address, { name: 'ingest', deadlineMs: 60_000 });
}

/** The service's own objects, for tests that call a use case directly. */
export interface Deps extends Stores {
  readonly bus: Bus;
  readonly objects: Objects;
  readonly firms: Firms;
  /** The name under which consumers claim events. */
  readonly consumer: string;
  readonly limits: Config['limits'];
}

/** The running service and a client of it. */
export interface Served {
  readonly client: Client;
  readonly address: string;
}

export interface StartedIngest {
  readonly deps: Deps;
  readonly db: Database;
  readonly config: Config;
  /** Absent unless the service itself was started. */
  readonly served: Served | undefined;
  close(): Promise<void>;
}

interface IngestOptions {
  /** Start the service itself too, over gRPC. */
  readonly serving: boolean;
  /** How often an event that fails is redelivered. */
  readonly retries: number;
  readonly findFirm: (uuid: string) => Promise<Firm>;
}

const log = createLog({ name: 'ingest', level: 'silent' });

/** Opens the service's dependencies on a new database, an embedded bus and a disk store of their own. */
export async function startIngest({ serving, retries, findFirm }: IngestOptions): Promise<StartedIngest> {
  const closing = new Closing();
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-ingest-'));
  closing.add('directory', () => rm(directory, { recursive: true, force: true }));
  const database = await serviceDatabase(schema, migrations);
  closing.add('database', () => database.drop());
  const databaseUrl = database.url(schema);
  const config: Config = {
    databaseUrl,
    bus: { transport: 'embedded', url: database.url('bus'), schema: 'bus' },
    objects: { store: 'disk', directory, secret: 'a secret of at least thirty-two bytes' },
    listen: '127.0.0.1:0',
    keyManagement: '127.0.0.1:1',
    analysis: '127.0.0.1:1',
    limits: limitsFrom(LimitVariables.parse({})),
    retries,
  };
  // Apart from the service's, so that a test may hold a lock while the service works.
  const db = openDatabase({ url: databaseUrl, schema });
  closing.add('pool', () => db.close());
  const own = openDatabase({ url: databaseUrl, schema });
  closing.add("the service's pool", () => own.close());
  const stores = openStores(own, databaseUrl);
  closing.add('stores', () => stores.close());
  const bus = await openBus(config.bus, { name: 'test', log });
  closing.add('bus', () => bus.close());
  const objects = await openObjects(config.objects);
  const served = serving ? await serveIngest(config, findFirm, closing) : undefined;
  const firms: Firms = { find: findFirm, settings: findFirm };
  const deps = { ...stores, bus, objects, firms, consumer: 'test', limits: config.limits };
  return { deps, db, config, served, close: () => closing.close() };
}

/** Starts the service, and a key-management service that knows the test's firms. */
async function serveIngest(config: Config, find: (uuid: string) => Promise<Firm>, closing: Closing): Promise<Served> {
  const findFirm = async ({ firm_uuid }: { firm_uuid: string }) => {
    const { uuid, name, country, segmentTypes, redaction } = await find(firm_uuid);
    return { firm: { uuid, name, country, segment_types: [...segmentTypes], redaction } };
  };
  const { FindFirm } = keyManagement;
  const firms = await serve({
    address: '127.0.0.1:0',
    services: [{ service: { FindFirm }, handlers: { findFirm } }],
    log,
  });
  closing.add('key-management', () => firms.stop());
  const service = await start({ ...config, keyManagement: firms.address }, { log });
  closing.add('service', () => service.close());
  const client = dialIngest(service.address);
  closing.add('client', () => client.close());
  return { client, address: service.address };
}
