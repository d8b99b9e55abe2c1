import { ApiKeyRevoked } from '@call-analysis/events';
import type { Page } from '@call-analysis/postgres';
import { type Caller, noSuch, requireRole } from '../domain.ts';
import type { ListedKey } from '../store/api-keys.ts';
import type { Store } from '../store/store.ts';

/**
 * Deletes a key permanently and publishes that it was revoked, because gateways cache keys. The keys that it replaced end
 * with it, and a replaced key that still works can be deleted alone.
 * Faults: FORBIDDEN; NOT_FOUND, also when the key was deleted before.
 */
export async function deleteKey({ store }: { store: Store }, caller: Caller, keyUuid: string): Promise<void> {
  requireRole(caller, ['SUPERUSER'], 'Deleting an API key');
  await store.transaction(async (tx) => {
    const deleted = await tx.deleteKey(keyUuid);
    if (deleted === null) throw noSuch('API key');
    const { firmUuid, uuids } = deleted;
    for (const uuid of uuids) {
      await tx.publish(ApiKeyRevoked, { subject: uuid, firmUuid, data: { key_uuid: uuid } });
    }
    await tx.addAuditEntry(caller, 'api_key.deleted', keyUuid, firmUuid);
  });
}

/** One page of the active keys of all firms, newest first, and their total number. Fault: FORBIDDEN. */
export async function listKeys(
  { store }: { store: Store },
  caller: Caller,
  page: Page,
): Promise<{ count: number; items: readonly ListedKey[] }> {
  requireRole(caller, ['SUPERUSER'], 'Listing API keys');
  return store.listActiveKeys(page);
}
