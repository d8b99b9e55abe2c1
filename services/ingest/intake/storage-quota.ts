import { Fault } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import type { Limits } from '../limits.ts';
import type { Uploads } from './upload-store.ts';

export interface StorageDeps {
  readonly uploads: Uploads;
  readonly limits: Pick<Limits, 'storageQuotaBytes'>;
}

/**
 * Throws Fault STORAGE_QUOTA_EXCEEDED when the firm's stored recordings and archives, with `addedBytes` more, exceed the
 * quota. Uploads within the same moments may exceed it together. `sql`: the transaction of the caller, if it has one.
 */
export async function requireStorage(
  { uploads, limits }: StorageDeps,
  firmUuid: string,
  addedBytes: number,
  sql?: Sql,
): Promise<void> {
  const quota = limits.storageQuotaBytes;
  if (quota === null) return;
  const bytes = await uploads.storedBytes(firmUuid, sql);
  if (bytes + addedBytes > quota) throw quotaExceeded(quota, bytes, addedBytes);
}

function quotaExceeded(quota: number, used: number, added: number): Fault {
  return new Fault(
    'invalid',
    'STORAGE_QUOTA_EXCEEDED',
    `Your firm's storage quota is ${quota} bytes. It stores ${used} bytes, and this upload has ${added}. ` +
      'Erase calls that are no longer needed, or ask the operator of the service for a larger quota.',
    { details: { quota_bytes: quota, used_bytes: used, upload_bytes: added } },
  );
}
