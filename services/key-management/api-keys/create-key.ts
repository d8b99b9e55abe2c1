import { randomUUID } from 'node:crypto';
import { Fault } from '@call-analysis/fault';
import { type Caller, type HashKey, keyPrefix, makeKey, noSuch, requireRole } from '../domain.ts';
import { Duplicate, type Store, type Transaction } from '../store.ts';

export interface IssuedKey {
  /** The only time that the full key is seen. */
  readonly apiKey: string;
  readonly prefix: string;
  readonly firm: { readonly uuid: string; readonly name: string };
}

/**
 * Gives a firm its API key, and the API user in whose name it acts if it has none (external-interface.md,
 * "Create API key"). Any firm: who may issue keys does so for all of them.
 * Faults: FORBIDDEN, NOT_FOUND, KEY_EXISTS.
 */
export async function createKey(
  { store, hashKey }: { store: Store; hashKey: HashKey },
  caller: Caller,
  firmUuid: string,
): Promise<IssuedKey> {
  requireRole(caller, ['SUPERUSER', 'WORKFLOW_ENGINEER'], 'Creating an API key');
  const apiKey = makeKey(firmUuid);
  const prefix = keyPrefix(firmUuid);
  const uuid = randomUUID();
  try {
    return await store.transaction(async (tx) => {
      const firm = await tx.findFirm(firmUuid);
      if (firm === null) throw noSuch('firm');
      const userUuid = (await tx.findApiUser(firmUuid)) ?? (await addApiUser(tx, caller, firmUuid));
      await tx.createKey({ uuid, firmUuid, userUuid, prefix, hash: hashKey(apiKey) });
      await tx.audit(caller, 'api_key.created', uuid, firmUuid);
      return { apiKey, prefix, firm: { uuid: firm.uuid, name: firm.name } };
    });
  } catch (error) {
    // The unique indexes decide, so that two creations at once cannot both win. A duplicate API user means the
    // same as a duplicate key: another creation was first, and it has committed.
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
  const uuid = randomUUID();
  await tx.addUser({ uuid, firmUuid, name: 'API user', role: 'ADMIN', webApiOnly: true });
  await tx.audit(caller, 'user.created', uuid, firmUuid);
  return uuid;
}
