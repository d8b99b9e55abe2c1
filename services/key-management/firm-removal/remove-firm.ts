import { ApiKeyRevoked, type BodyOf, type Event, type FirmDataRemoved, FirmRemoved } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { ADMINISTRATOR, noSuch } from '../domain.ts';
import type { FirmRemoval } from '../store/firm-removals.ts';
import type { Store } from '../store/store.ts';

const OWN = 'key-management';

/** The services that hold data of firms. A removal is finished when each has said so. */
export const SERVICES = [OWN, 'ingest', 'audio', 'transcription', 'analysis', 'webhooks'] as const;

const ANNOUNCE_AGAIN_MS = 5 * 60_000;
const FIRMS_AT_ONCE = 100;
const ENTRIES_AT_ONCE = 5_000;

/**
 * Removes a firm: nobody gets in any more, and every service removes its data of the firm. `confirmation` must be the
 * name of the firm. Repeated, it shows how far the removal is. Faults: NOT_FOUND, CONFIRMATION_MISMATCH.
 */
export async function removeFirm(
  { store }: { store: Store },
  firmUuid: string,
  confirmation: string,
): Promise<FirmRemoval> {
  return store.transaction(async (tx) => {
    await tx.lockFirm(firmUuid);
    const existing = await tx.findRemoval(firmUuid);
    if (existing !== null) return existing;
    const firm = await tx.findFirm(firmUuid);
    if (firm === null) throw noSuch('firm');
    if (firm.name !== confirmation) {
      throw new Fault(
        'invalid',
        'CONFIRMATION_MISMATCH',
        'The confirmation is not the name of this firm. Nothing was removed. "firm list" shows its name.',
      );
    }
    const removedAt = new Date();
    for (const uuid of await tx.listWorkingKeys(firmUuid)) {
      await tx.publish(ApiKeyRevoked, { subject: uuid, firmUuid, data: { key_uuid: uuid } });
    }
    const removed = await tx.removeFirm(firm, removedAt);
    await tx.setReport(firmUuid, { service: OWN, removed, finishedAt: null });
    await tx.addAuditEntry(ADMINISTRATOR, 'firm.removed', firmUuid, firmUuid);
    await announce(tx, { firmUuid, country: firm.country, removedAt });
    return (await tx.findRemoval(firmUuid))!;
  });
}

/** Removes the audit log of a removed firm, except the entry about the removal, and completes this service's part. */
export async function removeAuditLog(
  { store }: { store: Store },
  { firmuuid: firmUuid }: Event<BodyOf<typeof FirmRemoved>>,
): Promise<void> {
  let entries = 0;
  for (;;) {
    const removed = await store.removeAuditEntries(firmUuid, ENTRIES_AT_ONCE);
    entries += removed;
    if (removed < ENTRIES_AT_ONCE) break;
  }
  await store.transaction(async (tx) => {
    const removal = await tx.findRemoval(firmUuid);
    const own = removal?.reports.find(({ service }) => service === OWN);
    if (removal === null || own === undefined || (own.finishedAt !== null && entries === 0)) return;
    const before = own.removed.find(({ what }) => what === 'audit_entry')?.count ?? 0;
    const rest = own.removed.filter(({ what }) => what !== 'audit_entry');
    const removed = [...rest, { what: 'audit_entry', count: before + entries }];
    await tx.setReport(firmUuid, { service: OWN, removed, finishedAt: new Date() });
  });
}

/** Adds to the receipt what a service removed. */
export async function recordRemovedData(
  { store }: { store: Store },
  { firmuuid, data }: Event<BodyOf<typeof FirmDataRemoved>>,
): Promise<void> {
  await store.transaction(async (tx) => {
    // An older event that arrives late must not replace what the service said since.
    await tx.lockRemoval(firmuuid);
    const removal = await tx.findRemoval(firmuuid);
    if (removal === null) return;
    const known = removal.reports.find(({ service }) => service === data.service);
    const finishedAt = new Date(data.finished_at);
    if (known !== undefined && known.finishedAt !== null && known.finishedAt >= finishedAt) return;
    await tx.setReport(firmuuid, { service: data.service, removed: data.removed, finishedAt });
  });
}

/**
 * Publishes the event again for firms whose data some service has not removed: it may have been published before the
 * service knew of it, or given up.
 */
export async function announceUnfinished({ store }: { store: Store }, now: Date): Promise<void> {
  await store.transaction(async (tx) => {
    const before = new Date(now.getTime() - ANNOUNCE_AGAIN_MS);
    for (const removal of await tx.takeUnfinished(SERVICES, before, FIRMS_AT_ONCE)) await announce(tx, removal);
  });
}

async function announce(
  tx: Parameters<Parameters<Store['transaction']>[0]>[0],
  { firmUuid, country, removedAt }: Omit<FirmRemoval, 'reports'>,
): Promise<void> {
  const data = { removed_at: removedAt.toISOString(), country };
  await tx.publish(FirmRemoved, { subject: firmUuid, firmUuid, data });
}
