import { randomUUID } from 'node:crypto';
import { Fault } from '@call-analysis/fault';
import { ADMINISTRATOR, DEFAULT_SETTINGS, type Firm, type FirmSettings } from '../domain.ts';
import { Duplicate, type Store } from '../store/store.ts';

/**
 * Creates a firm. Without a uuid, it gets one of version 4, whose first characters are random: the prefix of its API key
 * consists of them. Fault: FIRM_EXISTS.
 */
export async function createFirm(
  { store }: { store: Store },
  properties: Omit<Firm, 'uuid' | keyof FirmSettings> & Partial<FirmSettings> & { readonly uuid?: string | undefined },
): Promise<Firm> {
  const firm: Firm = { ...DEFAULT_SETTINGS, ...properties, uuid: properties.uuid ?? randomUUID() };
  try {
    await store.transaction(async (tx) => {
      if ((await tx.findRemoval(firm.uuid)) !== null) throw removed(firm.uuid);
      await tx.addFirm(firm);
      await tx.addAuditEntry(ADMINISTRATOR, 'firm.created', firm.uuid, firm.uuid);
    });
  } catch (error) {
    if (!(error instanceof Duplicate)) throw error;
    throw new Fault('conflict', 'FIRM_EXISTS', `A firm with the uuid ${firm.uuid} already exists.`, { cause: error });
  }
  return firm;
}

function removed(uuid: string): Fault {
  return new Fault('conflict', 'FIRM_EXISTS', `The firm with the uuid ${uuid} was removed. Choose another uuid.`);
}
