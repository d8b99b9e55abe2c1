import { ADMINISTRATOR, type Firm, noSuch } from '../domain.ts';
import type { Store } from '../store/store.ts';

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
