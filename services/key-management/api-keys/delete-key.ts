import { ApiKeyRevoked } from '@call-analysis/events';
import { type Caller, noSuch, requireRole } from '../domain.ts';
import type { Store } from '../store.ts';

/**
 * Ends a key for good and tells whoever may have cached it.
 * Faults: FORBIDDEN; NOT_FOUND, also when it was deleted before.
 */
export async function deleteKey({ store }: { store: Store }, caller: Caller, keyUuid: string): Promise<void> {
  requireRole(caller, ['SUPERUSER'], 'Deleting an API key');
  await store.transaction(async (tx) => {
    const firmUuid = await tx.deleteKey(keyUuid);
    if (firmUuid === null) throw noSuch('API key');
    await tx.publish(ApiKeyRevoked, { subject: keyUuid, firmUuid, data: { key_uuid: keyUuid } });
    await tx.audit(caller, 'api_key.deleted', keyUuid, firmUuid);
  });
}
