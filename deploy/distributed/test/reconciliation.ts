import { openObjects } from '@call-analysis/objects';
import { waitUntil } from '@call-analysis/testing';
import { Client } from 'pg';
import { admin } from '../../standalone/test/system/command.ts';
import type { FaultySystem } from './faulty-system.ts';
import type { RetryingClient } from './retrying-client.ts';

/** The differences between what a client was told and what the system has. */
export interface Reconciliation {
  /** The partner_call_ids of accepted calls that are not in the catalogue. */
  readonly lost: readonly string[];
  /** Accepted calls by status, with the failure of those that failed. */
  readonly byStatus: Readonly<Record<string, number>>;
  readonly failures: readonly unknown[];
  /** Calls without exactly one analysis, in the catalogue or in the analysis service. */
  readonly notAnalyzedOnce: readonly unknown[];
  /** Batches and campaigns whose counters differ from what the client was told. */
  readonly miscounted: readonly unknown[];
  /** Recordings without a call and without a marker for the sweep; below, calls without their recording. */
  readonly orphans: readonly string[];
  readonly withoutRecording: readonly string[];
  /** Waiting and active events, by schema of queues. */
  readonly waiting: Readonly<Record<string, number>>;
  readonly deadLetters: readonly unknown[];
}

const BUSES = {
  'key-management': 'key_management_bus',
  ingest: 'ingest_bus',
  audio: 'audio_bus',
  transcription: 'transcription_bus',
  analysis: 'analysis_bus',
};

/** How many requests are open at the same time. */
const ASKERS = 8;

interface CallRow {
  readonly uuid: string;
  readonly partner_call_id: string;
  readonly source: string;
  readonly status: string;
  readonly outcome: string | null;
  readonly failure: unknown;
  readonly analyses: number;
}

/** Waits until every accepted call has ended and every queue is empty. */
export async function settled({ system }: FaultySystem, firmUuid: string, timeoutMs: number): Promise<void> {
  await waitUntil(
    async () => {
      const [row] = await rows<{ open: number }>(
        system.databaseUrls['ingest']!,
        `SELECT count(*)::int AS open FROM ingest.call WHERE firm_uuid = $1 AND status NOT IN ('completed', 'failed', 'canceled')`,
        [firmUuid],
      );
      return row!.open === 0 && Object.values(await waiting(system.databaseUrls)).every((count) => count === 0);
    },
    { timeoutMs, everyMs: 250 },
  );
}

export async function reconcile(
  world: FaultySystem,
  client: RetryingClient,
  firmUuid: string,
): Promise<Reconciliation> {
  const { databaseUrls } = world.system;
  const calls = await rows<CallRow>(
    databaseUrls['ingest']!,
    `SELECT uuid, partner_call_id, source, status, outcome, failure,
            (SELECT count(*)::int FROM ingest.analysis a WHERE a.call_uuid = c.uuid) AS analyses
       FROM ingest.call c WHERE firm_uuid = $1`,
    [firmUuid],
  );
  const analyzed = await rows<{ call_uuid: string; n: number }>(
    databaseUrls['analysis']!,
    'SELECT call_uuid, count(*)::int AS n FROM analysis.analysis WHERE firm_uuid = $1 GROUP BY call_uuid',
    [firmUuid],
  );
  const analyses = new Map(analyzed.map(({ call_uuid, n }) => [call_uuid, n]));
  const known = new Map(calls.map((call) => [call.partner_call_id, call]));
  const byStatus: Record<string, number> = {};
  for (const { status } of calls) byStatus[status] = (byStatus[status] ?? 0) + 1;
  const completed = calls.filter(({ status }) => status === 'completed');
  return {
    lost: [...client.accepted].filter((id) => !known.has(id)),
    byStatus,
    failures: calls.flatMap(({ status, failure }) => (status === 'failed' ? [failure] : [])),
    notAnalyzedOnce: completed.filter((call) => {
      const wanted = call.outcome === 'scored' ? 1 : 0;
      return (call.analyses !== wanted && !(wanted === 0 && call.analyses === 1)) || (analyses.get(call.uuid) ?? 0) > 1;
    }),
    miscounted: await miscounted(client),
    ...(await recordings(world, firmUuid, calls)),
    waiting: await waiting(databaseUrls),
    deadLetters: await deadLetters(world),
  };
}

async function miscounted(client: RetryingClient): Promise<unknown[]> {
  const campaigns = [...client.campaigns].map(([uuid, calls]) => async () => {
    const { total, by_status } = (await client.retry(() => client.readCampaign(uuid))).body.calls;
    return total === calls && by_status['completed'] === calls ? [] : [{ campaign: uuid, calls, total, by_status }];
  });
  const batches = [...client.batches].map(([uuid, { calls }]) => async () => {
    const { accepted, by_status, finished_at } = (await client.retry(() => client.readBatch(uuid))).body;
    const counted = Object.values(by_status).reduce((sum, count) => sum + count, 0);
    return accepted === calls && counted === calls && finished_at !== null
      ? []
      : [{ batch: uuid, calls, accepted, by_status }];
  });
  const questions = [...campaigns, ...batches].values();
  // All take their requests from one list.
  const askers = Array.from({ length: ASKERS }, async () => {
    const wrong: unknown[] = [];
    for (const question of questions) wrong.push(...(await question()));
    return wrong;
  });
  return (await Promise.all(askers)).flat();
}

async function recordings({ store, system }: FaultySystem, firmUuid: string, calls: readonly CallRow[]) {
  const { endpoint, accessKey, secretKey } = store;
  const objects = await openObjects({
    store: 's3',
    endpoint,
    publicEndpoint: endpoint,
    accessKey,
    secretKey,
    bucket: system.store.bucket,
    region: 'us-east-1',
    pathStyle: true,
    createBucket: false,
  });
  const uuids = async (prefix: string) => {
    const found = new Set<string>();
    for await (const { key } of objects.list(prefix)) found.add(/([^/]+)\.[a-z0-9]+$/.exec(key)![1]!);
    return found;
  };
  const [kept, marked] = [await uuids(`recordings/${firmUuid}/`), await uuids(`uploading/${firmUuid}/`)];
  const wanted = new Set(calls.filter(({ source }) => source === 'audio').map(({ uuid }) => uuid));
  return {
    orphans: [...kept].filter((uuid) => !wanted.has(uuid) && !marked.has(uuid)),
    withoutRecording: [...wanted].filter((uuid) => !kept.has(uuid)),
  };
}

async function waiting(databaseUrls: Readonly<Record<string, string>>): Promise<Record<string, number>> {
  const counts = Object.entries(BUSES).map(async ([service, schema]) => {
    const [row] = await rows<{ n: number }>(
      databaseUrls[service]!,
      `SELECT (SELECT count(*) FROM ${schema}.outbox)::int
            + (SELECT count(*) FROM ${schema}.job j JOIN ${schema}.queue q ON q.name = j.name
                WHERE q.dead_letter IS NOT NULL AND j.state <= 'active')::int AS n`,
    );
    return [service, row!.n] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

/** As the administrator sees them. */
function deadLetters({ kafka, kafkaPrefix, links }: FaultySystem): Promise<unknown[]> {
  const variables = { ...links.variables, KAFKA_BROKERS: kafka.brokers.join(','), KAFKA_TOPIC_PREFIX: kafkaPrefix };
  return admin(variables, 'dead-letter', 'list');
}

async function rows<Row>(url: string, text: string, values: readonly unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, [...values])).rows as Row[];
  } finally {
    await client.end();
  }
}
