import { ApiKeyRevoked } from '@call-analysis/events';
import { type Caller, noSuch, requireRole } from '../domain.ts';
import type { Store } from '../store.ts';

/**
 * Deletes a key permanently and publishes that it was revoked, because gateways cache keys.
 * Faults: FORBIDDEN; NOT_FOUND, also when the key was deleted before.
 */
export async function deleteKey({ store }: { store: Store }, caller: Caller, keyUuid: string): Promise<void> {
  requireRole(caller, ['SUPERUSER'], 'Deleting an API key');
  await store.transaction(async (tx) => {
    const firmUuid = await tx.deleteKey(keyUuid);
    if (firmUuid === null) throw noSuch('API key');
    await tx.publish(ApiKeyRevoked, { subject: keyUuid, firmUuid, data: { key_uuid: keyUuid } });
    await tx.addAuditEntry(caller, 'api_key.deleted', keyUuid, firmUuid);
  });
}
