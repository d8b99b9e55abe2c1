import { randomUUID } from 'node:crypto';
import { Fault } from '@call-analysis/fault';
import { type Actor, ADMINISTRATOR, type Firm, type FirmCaller, noSuch, requireRole } from '../domain.ts';
import type { NewFirm } from '../store/firms-and-users.ts';
import { Duplicate, type Store, type Transaction } from '../store/store.ts';

/**
 * Creates a firm. Without a uuid, it gets one of version 4, whose first characters are random: the prefix of its API key
 * consists of them. Fault: FIRM_EXISTS.
 */
export async function createFirm(
  { store }: { store: Store },
  properties: Omit<NewFirm, 'uuid'> & { readonly uuid?: string | undefined },
): Promise<Firm> {
  const { uuid = randomUUID() } = properties;
  try {
    return await store.transaction(async (tx) => {
      if ((await tx.findRemoval(uuid)) !== null) {
        throw new Fault('conflict', 'FIRM_EXISTS', `The firm with the uuid ${uuid} was removed. Choose another uuid.`);
      }
      const firm = await tx.addFirm({ ...properties, uuid });
      await tx.addAuditEntry(ADMINISTRATOR, 'firm.created', uuid, uuid);
      return firm;
    });
  } catch (error) {
    if (!(error instanceof Duplicate)) throw error;
    throw new Fault('conflict', 'FIRM_EXISTS', `A firm with the uuid ${uuid} already exists.`, { cause: error });
  }
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

/** Undefined fields do not change. Calls keep the segment type that they have. */
type FirmChange = { readonly [Name in Exclude<keyof Firm, 'uuid' | 'country'>]?: Firm[Name] | undefined };

/**
 * Changes a firm. An update that changes nothing is not recorded. Without a caller, for the admin command.
 * Faults: NOT_FOUND, FORBIDDEN.
 */
export async function updateFirm(
  { store }: { store: Store },
  caller: FirmCaller | null,
  uuid: string,
  change: FirmChange,
): Promise<Firm> {
  if (caller !== null) {
    requireRole(caller, ['ADMIN'], 'Changing the settings of a firm');
    if (caller.firmUuid !== uuid) throw noSuch('firm');
  }
  return store.transaction(async (tx) => {
    await tx.lockFirm(uuid);
    const firm = await tx.findFirm(uuid);
    if (firm === null) throw noSuch('firm');
    const changed: Firm = { ...firm, ...given(change) };
    const actor = caller ?? ADMINISTRATOR;
    const names = namesOfChanges(firm, changed);
    if (names.length > 0) await tx.changeFirm(changed);
    for (const name of names) await tx.addAuditEntry(actor, 'firm.changed', uuid, uuid, name);
    await changeSegmentTypes(tx, actor, firm, changed.segmentTypes);
    return changed;
  });
}

async function changeSegmentTypes(tx: Transaction, actor: Actor, firm: Firm, names: readonly string[]): Promise<void> {
  const { uuid, segmentTypes: before } = firm;
  if (JSON.stringify(names) === JSON.stringify(before)) return;
  await tx.setSegmentTypes(uuid, names);
  const added = names.filter((name) => !before.includes(name));
  const removed = before.filter((name) => !names.includes(name));
  for (const name of added) await tx.addAuditEntry(actor, 'segment_type.added', uuid, uuid, name);
  for (const name of removed) await tx.addAuditEntry(actor, 'segment_type.removed', uuid, uuid, name);
  // Only their order has changed.
  if (added.length + removed.length === 0) {
    await tx.addAuditEntry(actor, 'firm.changed', uuid, uuid, 'segment_types');
  }
}

/** What the audit log calls the settings. */
const SETTINGS = {
  name: ['name'],
  language: ['language'],
  time_zone: ['timeZone'],
  redaction: ['redaction'],
  retention: ['audioDays', 'transcriptDays', 'callsDays'],
} as const;

function namesOfChanges(before: Firm, after: Firm): string[] {
  const changed = Object.entries(SETTINGS).filter(([, fields]) =>
    fields.some((field) => before[field] !== after[field]),
  );
  return changed.map(([name]) => name);
}

function given<Values extends object>(values: Values): { [Name in keyof Values]: Exclude<Values[Name], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
