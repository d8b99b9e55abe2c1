import { reconcile, rows, type Stored } from '../distributed/test/reconciliation.ts';
import type { Firm } from './firm.ts';
import type { Receiver } from './receiver.ts';

/** The final state of a firm. Everything in `faults` should be empty. */
export interface Verdict {
  /** Of each call. */
  readonly statuses: readonly string[];
  /** The stage and the code of each call that failed. */
  readonly failures: readonly string[];
  /** Objects that the next sweep removes, because the row that they belong to was never written. */
  readonly awaitingSweep: number;
  readonly faults: Readonly<Record<string, readonly unknown[]>>;
}

interface EndedCall {
  readonly uuid: string;
  readonly status: string;
}

/** Folders of objects that the services sweep: those without a row are removed after some hours. */
const SWEPT = ['frozen', 'rejected', 'transcripts', 'uploading'];

/**
 * Compares catalogue, analyses, objects, webhooks and audit log with each other and with the responses that the client
 * got.
 */
export async function judge(stored: Stored, firm: Firm, receiver: Receiver): Promise<Verdict> {
  for (const { partnerCallId } of firm.erased) firm.client.accepted.delete(partnerCallId);
  const books = await reconcile(stored, firm.client, firm.uuid);
  const calls = await rows<EndedCall>(
    stored.databaseUrls['ingest']!,
    'SELECT uuid, status FROM ingest.call WHERE firm_uuid = $1',
    [firm.uuid],
  );
  const [unexplained, awaitingSweep] = await otherObjects(stored, firm);
  const failures = books.failures as readonly ({ stage: string; code: string } | null)[];
  const { lost, unknown, doubled, notAnalyzedOnce, miscounted, orphans, withoutRecording } = books;
  return {
    statuses: calls.map(({ status }) => status),
    failures: failures.flatMap((failure) => (failure === null ? [] : [`${failure.stage} ${failure.code}`])),
    awaitingSweep,
    faults: {
      lost,
      unknown,
      doubled,
      open: calls.filter(({ status }) => !['completed', 'failed'].includes(status)),
      failedWithoutReason: failures.filter((failure) => failure === null),
      notAnalyzedOnce,
      miscounted,
      orphanedObjects: [...orphans, ...unexplained],
      withoutRecording,
      webhooks: webhookFaults(firm, calls, receiver),
      audit: await auditFaults(stored, firm),
    },
  };
}

/** Each call that has ended has one webhook event with its final status, and repeats have the same webhook-id. */
function webhookFaults({ uuid, client, erased }: Firm, calls: readonly EndedCall[], receiver: Receiver): unknown[] {
  const told = receiver.told(uuid);
  const faults: unknown[] = [];
  for (const { uuid: call, status } of calls) {
    const types = told.get(call) ?? [];
    if (types.join() !== `call.${status}`) faults.push({ call, status, told: types });
  }
  for (const batch of client.batches.keys()) {
    if (told.get(batch)?.join() !== 'batch.finished') faults.push({ batch });
  }
  const known = new Set([
    ...calls.map((call) => call.uuid),
    ...client.batches.keys(),
    ...erased.map((call) => call.uuid),
  ]);
  for (const subject of told.keys()) if (!known.has(subject)) faults.push({ unknown: subject });
  return faults;
}

/** Each of these actions has exactly one entry. */
async function auditFaults({ databaseUrls }: Stored, { uuid, client, erased }: Firm): Promise<unknown[]> {
  const entries = await rows<{ action: string; subject: string; n: number }>(
    databaseUrls['key-management']!,
    `SELECT action, subject, count(*)::int AS n FROM key_management.audit_entry
      WHERE firm_uuid = $1 AND code IS NULL GROUP BY action, subject`,
    [uuid],
  );
  const campaigns = [...client.campaigns.keys()];
  const expected: Record<string, readonly string[]> = {
    'call.erased': erased.map((call) => call.uuid),
    'campaign.created': campaigns,
    'campaign.started': campaigns,
    'campaign.calls_added': campaigns,
  };
  return Object.entries(expected).flatMap(([action, subjects]) => {
    const found = new Map(entries.filter((entry) => entry.action === action).map(({ subject, n }) => [subject, n]));
    const wrong = subjects.filter((subject) => found.get(subject) !== 1).map((subject) => ({ action, subject }));
    const more = [...found.keys()].filter((subject) => !subjects.includes(subject));
    return [...wrong, ...more.map((subject) => ({ action, subject, unexpected: true }))];
  });
}

/**
 * Objects other than recordings that neither a row nor a sweep knows, and the number of those that a sweep will remove.
 */
async function otherObjects(stored: Stored, { uuid: firmUuid }: Firm): Promise<[string[], number]> {
  const keys = await rows<{ key: string }>(
    stored.databaseUrls['ingest']!,
    `SELECT metadata_key AS key FROM ingest.upload_session WHERE firm_uuid = $1
      UNION SELECT audio_key FROM ingest.upload_session WHERE firm_uuid = $1 AND audio_key IS NOT NULL
      UNION SELECT archive_key FROM ingest.batch WHERE firm_uuid = $1 AND archive_key IS NOT NULL`,
    [firmUuid],
  );
  const known = new Set(keys.map(({ key }) => key));
  const objects = await stored.objects();
  const unexplained: string[] = [];
  let awaitingSweep = 0;
  for await (const { key } of objects.list(`UZ/${firmUuid}/`)) if (!known.has(key)) unexplained.push(key);
  for (const folder of SWEPT) {
    for await (const { key } of objects.list(`${folder}/${firmUuid}/`)) if (!known.has(key)) awaitingSweep += 1;
  }
  return [unexplained, awaitingSweep];
}

/** How often each name occurs. */
export function counted(names: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
}
