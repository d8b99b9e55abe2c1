import { ADMINISTRATOR, type Firm, type FirmSettings, noSuch, type Retention } from '../domain.ts';
import type { Store } from '../store.ts';

/** What is undefined does not change. */
export type FirmChange = {
  readonly [Name in keyof Omit<FirmSettings, 'retention'>]?: FirmSettings[Name] | undefined;
} & { readonly retention?: { readonly [Name in keyof Retention]?: number | null | undefined } | undefined };

/** Changes settings of a firm. An update that changes nothing is not recorded. Fault: NOT_FOUND. */
export async function updateFirm({ store }: { store: Store }, uuid: string, change: FirmChange): Promise<Firm> {
  return store.transaction(async (tx) => {
    const firm = await tx.findFirm(uuid);
    if (firm === null) throw noSuch('firm');
    const { retention, ...rest } = change;
    const changed: Firm = { ...firm, ...given(rest), retention: { ...firm.retention, ...given(retention ?? {}) } };
    const names = namesOfChanges(firm, changed);
    if (names.length === 0) return firm;
    await tx.changeFirm(uuid, changed);
    for (const name of names) await tx.addAuditEntry(ADMINISTRATOR, 'firm.changed', uuid, uuid, name);
    return changed;
  });
}

function namesOfChanges(before: Firm, after: Firm): string[] {
  return [
    ...(before.language === after.language ? [] : ['language']),
    ...(before.timeZone === after.timeZone ? [] : ['time_zone']),
    ...(before.redaction === after.redaction ? [] : ['redaction']),
    ...(JSON.stringify(before.retention) === JSON.stringify(after.retention) ? [] : ['retention']),
  ];
}

function given<Values extends object>(values: Values): { [Name in keyof Values]: Exclude<Values[Name], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
