import { randomUUID } from 'node:crypto';
import { Fault } from '@call-analysis/fault';
import { ADMINISTRATOR, DEFAULT_SETTINGS, type Firm, type FirmSettings, noSuch } from '../domain.ts';
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

/** Adds a segment type to a firm unless the firm already has it. Fault: NOT_FOUND. */
export async function addSegmentType({ store }: { store: Store }, firmUuid: string, name: string): Promise<Firm> {
  return store.transaction(async (tx) => {
    await tx.lockFirm(firmUuid);
    if ((await tx.findFirm(firmUuid)) === null) throw noSuch('firm');
    const isNew = await tx.addSegmentType(firmUuid, name);
    if (isNew) await tx.addAuditEntry(ADMINISTRATOR, 'segment_type.added', firmUuid, firmUuid, name);
    // Read again, because another segment type may have been added in the meantime.
    const firm = await tx.findFirm(firmUuid);
    if (firm === null) throw noSuch('firm');
    return firm;
  });
}
