import { randomUUID } from 'node:crypto';
import { Fault } from '@call-analysis/fault';
import { type Caller, newUser, noSuch, requireRole } from '../domain.ts';
import { Duplicate, type Store, type Transaction } from '../store/store.ts';
import { type HashKey, keyPrefix, makeKey } from './api-key.ts';

export interface CreatedKey {
  /** The full key. It is not stored, so this is the only time it is shown. */
  readonly apiKey: string;
  readonly prefix: string;
  readonly firm: { readonly uuid: string; readonly name: string };
}

/**
 * Creates the API key of a firm, and the API user on whose behalf it acts unless the firm has one (docs/api.md, "Keys and
 * users"). A caller who may create keys may do so for any firm. Faults: FORBIDDEN, NOT_FOUND, KEY_EXISTS.
 */
export async function createKey(
  { store, hashKey }: { store: Store; hashKey: HashKey },
  caller: Caller,
  firmUuid: string,
  expiresAt: Date | null = null,
): Promise<CreatedKey> {
  requireRole(caller, ['SUPERUSER', 'WORKFLOW_ENGINEER'], 'Creating an API key');
  const apiKey = makeKey(firmUuid);
  const prefix = keyPrefix(firmUuid);
  const uuid = randomUUID();
  try {
    return await store.transaction(async (tx) => {
      const firm = await tx.findFirm(firmUuid);
      if (firm === null) throw noSuch('firm');
      await tx.removeExpiredKey(firmUuid);
      const userUuid = (await tx.findApiUser(firmUuid)) ?? (await addApiUser(tx, caller, firmUuid));
      await tx.createKey({ uuid, firmUuid, userUuid, prefix, hash: hashKey(apiKey), expiresAt });
      await tx.addAuditEntry(caller, 'api_key.created', uuid, firmUuid);
      return { apiKey, prefix, firm: { uuid: firm.uuid, name: firm.name } };
    });
  } catch (error) {
    // The unique indexes decide between concurrent requests. A duplicate API user means the same as a duplicate key:
    // another request was first and has committed.
    if (!(error instanceof Duplicate)) throw error;
    throw new Fault(
      'conflict',
      'KEY_EXISTS',
      'The firm already has an active API key. Delete that key before you create another.',
      { cause: error },
    );
  }
}

async function addApiUser(tx: Transaction, caller: Caller, firmUuid: string): Promise<string> {
  const user = newUser({ firmUuid, name: 'API user', role: 'ADMIN', operatorIds: [], webApiOnly: true });
  await tx.addUser(user);
  await tx.addAuditEntry(caller, 'user.created', user.uuid, firmUuid);
  return user.uuid;
}
