import { type Objects, openObjects } from '@call-analysis/objects';
import { withClient } from '@call-analysis/postgres';
import { waitUntil } from '@call-analysis/testing';
import { adminProcess } from '../../standalone/test/system/command.ts';
import type { RetryingClient } from './retrying-client.ts';
import type { DistributedSystem } from './system.ts';

/** The stored data of a system, for comparison with the responses that clients got. */
export interface Stored {
  /** By service. The role may read the service's tables and the queues that it uses. */
  readonly databaseUrls: Readonly<Record<string, string>>;
  /** Schemas of queues. Only those with Kafka have an outbox in addition to the queues. */
  readonly queues: readonly { readonly service: string; readonly schema: string; readonly hasOutbox: boolean }[];
  objects(): Promise<Pick<Objects, 'list'>>;
  /** As the administrator sees them. */
  deadLetters(): Promise<readonly unknown[]>;
}

/** What a system of several processes has stored. `variables` are for the admin command. */
export function storedBy(
  { databaseUrls, store }: Pick<DistributedSystem, 'databaseUrls' | 'store'>,
  kafka: { readonly brokers: readonly string[]; readonly prefix: string },
  variables: Readonly<Record<string, string>> = {},
): Stored {
  return {
    databaseUrls,
    queues: BUSES.map((service) => ({ service, schema: `${service.replace('-', '_')}_bus`, hasOutbox: true })),
    objects: () =>
      openObjects({
        store: 's3',
        ...store,
        publicEndpoint: store.endpoint,
        region: 'us-east-1',
        pathStyle: true,
        createBucket: false,
      }),
    deadLetters: () =>
      adminProcess(
        { ...variables, KAFKA_BROKERS: kafka.brokers.join(','), KAFKA_TOPIC_PREFIX: kafka.prefix },
        'dead-letter',
        'list',
      ),
  };
}

/** The differences between the responses that a client got and the stored data. */
export interface Reconciliation {
  /** The partner_call_ids of accepted calls that are not in the catalogue. */
  readonly lost: readonly string[];
  /** The partner_call_ids of calls in the catalogue that no client was told of, or that are there twice. */
  readonly unknown: readonly string[];
  readonly doubled: readonly string[];
  /** Accepted calls by status, with the failure of those that failed. */
  readonly byStatus: Readonly<Record<string, number>>;
  readonly failures: readonly unknown[];
  /** Calls without exactly one analysis, in the catalogue or in the analysis service. */
  readonly notAnalyzedOnce: readonly unknown[];
  /** Batches and campaigns whose counters differ from the client's responses. */
  readonly miscounted: readonly unknown[];
  /** Recordings without a call and without a marker for the sweep; below, calls without their recording. */
  readonly orphans: readonly string[];
  readonly withoutRecording: readonly string[];
  /** Waiting and active events, by schema of queues. */
  readonly waiting: Readonly<Record<string, number>>;
  readonly deadLetters: readonly unknown[];
}

const BUSES = ['key-management', 'ingest', 'audio', 'transcription', 'analysis', 'webhooks'];

/** How many requests are open at the same time. */
const ASKERS = 8;

interface CallRow {
  readonly uuid: string;
  readonly partner_call_id: string;
  readonly source: string;
  readonly status: string;
  readonly outcome: string | null;
  readonly failure: { readonly stage: string; readonly code: string } | null;
  readonly analyses: number;
}

/** Waits until every accepted call has ended and every queue is empty. */
export async function settled(stored: Stored, firmUuid: string, timeoutMs: number): Promise<void> {
  await waitUntil(
    async () => {
      const [row] = await rows<{ open: number }>(
        stored.databaseUrls['ingest']!,
        `SELECT count(*)::int AS open FROM ingest.call WHERE firm_uuid = $1 AND status NOT IN ('completed', 'failed', 'canceled')`,
        [firmUuid],
      );
      return row!.open === 0 && Object.values(await waiting(stored)).every((count) => count === 0);
    },
    { timeoutMs, everyMs: 250 },
  );
}

export async function reconcile(stored: Stored, client: RetryingClient, firmUuid: string): Promise<Reconciliation> {
  const { databaseUrls } = stored;
  const calls = await rows<CallRow>(
    databaseUrls['ingest']!,
    `SELECT uuid, partner_call_id, source, status, outcome, failure,
            (SELECT count(*)::int FROM ingest.analysis a WHERE a.call_uuid = c.uuid) AS analyses
       FROM ingest.call c WHERE firm_uuid = $1`,
    [firmUuid],
  );
  const known = new Map(calls.map((call) => [call.partner_call_id, call]));
  const byStatus: Record<string, number> = {};
  for (const { status } of calls) byStatus[status] = (byStatus[status] ?? 0) + 1;
  const completed = calls.filter(({ status }) => status === 'completed');
  return {
    lost: [...client.accepted].filter((id) => !known.has(id)),
    unknown: [...known.keys()].filter((id) => !client.accepted.has(id)),
    doubled: calls.filter((call) => known.get(call.partner_call_id) !== call).map((call) => call.partner_call_id),
    byStatus,
    failures: calls.flatMap(({ status, failure }) => (status === 'failed' ? [failure] : [])),
    notAnalyzedOnce: completed.filter((call) => {
      const wanted = call.outcome === 'scored' ? 1 : 0;
      return call.analyses !== wanted && !(wanted === 0 && call.analyses === 1);
    }),
    miscounted: await miscounted(client),
    ...(await recordings(stored, firmUuid, calls)),
    waiting: await waiting(stored),
    deadLetters: await stored.deadLetters(),
  };
}

async function miscounted(client: RetryingClient): Promise<unknown[]> {
  const campaigns = [...client.campaigns].map(([uuid, calls]) => async () => {
    const { total, by_status } = (await client.retry(() => client.readCampaign(uuid))).body.calls;
    return total === calls && by_status['completed'] === calls ? [] : [{ campaign: uuid, calls, total, by_status }];
  });
  const batches = [...client.batches].map(([uuid, { calls }]) => async () => {
    const { accepted, erased, by_status, finished_at } = (await client.retry(() => client.readBatch(uuid))).body;
    const counted = Object.values(by_status).reduce((sum, count) => sum + count, erased);
    return accepted === calls && counted === calls && finished_at !== null
      ? []
      : [{ batch: uuid, calls, accepted, erased, by_status }];
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

async function recordings(stored: Stored, firmUuid: string, calls: readonly CallRow[]) {
  const objects = await stored.objects();
  const uuids = async (prefix: string) => {
    const found = new Set<string>();
    for await (const { key } of objects.list(prefix)) found.add(/([^/]+)\.[a-z0-9]+$/.exec(key)![1]!);
    return found;
  };
  const [kept, marked] = [await uuids(`recordings/${firmUuid}/`), await uuids(`uploading/${firmUuid}/`)];
  const known = new Set(calls.map(({ uuid }) => uuid));
  const wanted = calls.filter(({ source, failure }) => source === 'audio' && failure?.stage !== 'extraction');
  return {
    orphans: [...kept].filter((uuid) => !known.has(uuid) && !marked.has(uuid)),
    withoutRecording: wanted.flatMap(({ uuid }) => (kept.has(uuid) ? [] : [uuid])),
  };
}

async function waiting({ databaseUrls, queues }: Stored): Promise<Record<string, number>> {
  const counts = queues.map(async ({ service, schema, hasOutbox }) => {
    const [row] = await rows<{ n: number }>(
      databaseUrls[service]!,
      `SELECT ${hasOutbox ? `(SELECT count(*) FROM ${schema}.outbox)::int` : '0'}
            + (SELECT count(*) FROM ${schema}.job j JOIN ${schema}.queue q ON q.name = j.name
                WHERE q.dead_letter IS NOT NULL AND j.state <= 'active')::int AS n`,
    );
    return [service, row!.n] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

export function rows<Row>(url: string, text: string, values: readonly unknown[] = []): Promise<Row[]> {
  return withClient({ connectionString: url }, async (client) => (await client.query(text, [...values])).rows as Row[]);
}
