import {
  AbortMultipartUploadCommand,
  type CORSRule,
  GetBucketCorsCommand,
  GetBucketLifecycleConfigurationCommand,
  type LifecycleRule,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
} from '@aws-sdk/client-s3';
import type { Logger } from '@call-analysis/runtime';
import { ask, type Store } from './client.ts';
import { isCode } from './failures.ts';

/** Adds these lifecycle rules to those of the bucket. False when the store does not support such rules. */
export function ensureLifecycle(store: Store, rules: readonly LifecycleRule[]): Promise<boolean> {
  const { bucket: Bucket } = store;
  return ensureRules(rules, {
    read: async () => (await ask(store, new GetBucketLifecycleConfigurationCommand({ Bucket }))).Rules,
    none: 'NoSuchLifecycleConfiguration',
    write: (Rules) =>
      ask(store, new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } })),
  });
}

/** Adds these CORS rules to those of the bucket. False when the store does not support such rules. */
export function ensureCors(store: Store, rules: readonly CORSRule[]): Promise<boolean> {
  const { bucket: Bucket } = store;
  return ensureRules(rules, {
    read: async () => (await ask(store, new GetBucketCorsCommand({ Bucket }))).CORSRules,
    none: 'NoSuchCORSConfiguration',
    write: (CORSRules) => ask(store, new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } })),
  });
}

interface RulesOfBucket<Rule> {
  read(): Promise<Rule[] | undefined>;
  /** The error code when a bucket has no such rules. */
  readonly none: string;
  write(rules: Rule[]): Promise<unknown>;
}

async function ensureRules<Rule extends { ID?: string | undefined }>(
  rules: readonly Rule[],
  { read, none, write }: RulesOfBucket<Rule>,
): Promise<boolean> {
  try {
    const before = await read().catch((error: unknown) => {
      if (isCode(error, none)) return undefined;
      throw error;
    });
    const after = withRules(before ?? [], rules);
    if (after !== before) await write(after);
    return true;
  } catch (error) {
    if (isCode(error, 'NotImplemented', 'MethodNotAllowed')) return false;
    throw error;
  }
}

/** The bucket's rules with these added; the same list when it already has them. Other rules are kept unchanged. */
export function withRules<Rule extends { ID?: string | undefined }>(before: Rule[], rules: readonly Rule[]): Rule[] {
  const named = (ID: string | undefined) => before.find((each) => each.ID === ID);
  if (rules.every((rule) => has(named(rule.ID), rule))) return before;
  return [...before.filter((each) => !rules.some(({ ID }) => ID === each.ID)), ...rules];
}

/** Whether a rule is as wanted, whatever else the store says of it. Some stores leave out what is empty. */
function has(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return (found ?? '') === wanted;
  return Object.entries(wanted).every(([name, value]) => has((found as Record<string, unknown>)?.[name], value));
}

/** Parts of unfinished uploads are useless after a day. */
export const BROKEN_UPLOADS: LifecycleRule = {
  ID: 'call-analysis-uploads',
  Filter: { Prefix: '' },
  Status: 'Enabled',
  AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
};
const STALE_MS = 24 * 3600 * 1000;

/** Removes objects under a prefix, such as `transcripts/`, after some days. */
export function expiration(prefix: string, afterDays: number): LifecycleRule {
  return {
    ID: `call-analysis-${prefix.replaceAll(/[^a-z0-9]+/gi, '-').replace(/-$/, '')}`,
    Filter: { Prefix: prefix },
    Status: 'Enabled',
    Expiration: { Days: afterDays },
  };
}

type Log = Pick<Logger, 'info' | 'warn'>;

/** Has the store remove the parts of broken uploads. Nothing is thrown, because the store works without it. */
export async function removeBrokenUploads(store: Store, log: Log | undefined): Promise<void> {
  try {
    if (await ensureLifecycle(store, [BROKEN_UPLOADS])) return;
  } catch (error) {
    log?.warn({ err: error }, 'the lifecycle rule that removes broken uploads could not be set');
    return;
  }
  log?.info({}, 'the object store has no lifecycle rules; parts of broken uploads are removed at each start');
  await abortStale(store).catch((err: unknown) => log?.warn({ err }, 'broken uploads could not be removed'));
}

async function abortStale(store: Store): Promise<void> {
  const { bucket: Bucket } = store;
  let page: Partial<ListMultipartUploadsCommandOutput> = {};
  do {
    const list = new ListMultipartUploadsCommand({
      Bucket,
      KeyMarker: page.NextKeyMarker,
      UploadIdMarker: page.NextUploadIdMarker,
    });
    page = await ask(store, list);
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Initiated === undefined || Date.now() - Initiated.getTime() < STALE_MS) continue;
      const abort = new AbortMultipartUploadCommand({ Bucket, Key, UploadId });
      await ask(store, abort).catch((error: unknown) => {
        // An upload of another service, which removes it itself.
        if (!isCode(error, 'AccessDenied')) throw error;
      });
    }
    // Some stores announce another page without its marker.
  } while (page.IsTruncated === true && page.NextKeyMarker !== undefined);
}
