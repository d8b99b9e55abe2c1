import { randomUUID } from 'node:crypto';
import { Fault } from '@call-analysis/fault';
import { ADMINISTRATOR, type Firm } from '../domain.ts';
import { Duplicate, type Store } from '../store.ts';

/**
 * Adds a tenant. A uuid is made when none is given; it is random throughout, because key prefixes are its first
 * characters. Fault: FIRM_EXISTS.
 */
export async function createFirm(
  { store }: { store: Store },
  wanted: Omit<Firm, 'uuid'> & { readonly uuid?: string | undefined },
): Promise<Firm> {
  const firm: Firm = { ...wanted, uuid: wanted.uuid ?? randomUUID() };
  try {
    await store.transaction(async (tx) => {
      await tx.addFirm(firm);
      await tx.audit(ADMINISTRATOR, 'firm.created', firm.uuid, firm.uuid);
    });
  } catch (error) {
    if (!(error instanceof Duplicate)) throw error;
    throw new Fault('conflict', 'FIRM_EXISTS', `There already is a firm with the uuid ${firm.uuid}.`, { cause: error });
  }
  return firm;
}
