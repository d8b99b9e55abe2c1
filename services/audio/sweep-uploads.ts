import { pruneProcessed } from '@call-analysis/call-processing';
import { Failures } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Database } from '@call-analysis/postgres';
import type { ingest } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { playbackMarkerKey, readMarker, removePlayback, UPLOADING } from './recordings/recording-objects.ts';

/** Calls that one request asks for. */
const CALLS_PER_REQUEST = 100;

interface Deps {
  readonly db: Database;
  readonly objects: Objects;
  readonly ingest: Pick<Client<typeof ingest>, 'findCalls'>;
  /** How long an event may be redelivered. */
  readonly claimDays: number;
}

/**
 * Removes what is left of uploads that were broken off before their call was registered, and of playbacks in the making.
 * Where that fails, the others are removed nevertheless, and the error is thrown in the end.
 */
export async function sweep(deps: Deps, orphanAfterMs: number, now: Date): Promise<void> {
  const before = now.getTime() - orphanAfterMs;
  await pruneProcessed(deps.db, deps.claimDays);
  const failures = new Failures();
  const remove = (firmUuid: string, keys: readonly string[]) =>
    failures.attempt(() => removeOrphans(deps, firmUuid, keys));
  const found = new Map<string, string[]>();
  for await (const { key, modifiedAt } of deps.objects.list(UPLOADING)) {
    const marker = modifiedAt.getTime() < before ? readMarker(key) : null;
    if (marker === null) continue;
    const keys = found.get(marker.firmUuid) ?? [];
    found.set(marker.firmUuid, [...keys, key]);
    if (keys.length + 1 < CALLS_PER_REQUEST) continue;
    found.delete(marker.firmUuid);
    await remove(marker.firmUuid, [...keys, key]);
  }
  for (const [firmUuid, keys] of found) await remove(firmUuid, keys);
  failures.throwAll();
}

/** Only the call catalogue knows which uploads became calls. Without its answer nothing is removed. */
async function removeOrphans({ objects, ingest }: Deps, firmUuid: string, keys: readonly string[]): Promise<void> {
  const markers = keys.map((key) => ({ key, ...readMarker(key)! }));
  const call_uuids = markers.map(({ callUuid }) => callUuid);
  const known = new Set((await ingest.findCalls({ firm_uuid: firmUuid, call_uuids })).call_uuids);
  for (const { key, callUuid, recordingKey } of markers) {
    const isKnown = known.has(callUuid);
    if (!isKnown) await objects.remove(recordingKey);
    // Nobody may look for the recording again after it was broken off. It is made anew when it is asked for.
    if (!isKnown || key === playbackMarkerKey(firmUuid, callUuid)) await removePlayback(objects, firmUuid, callUuid);
    await objects.remove(key);
  }
}
