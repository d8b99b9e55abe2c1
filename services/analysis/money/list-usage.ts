import type { Group, MoneyStore, SpeechRow, UsageRow } from './money-store.ts';

/** The usage of language models and of speech. Either may be empty. */
interface UsageItem {
  readonly key: string;
  readonly model: UsageRow | null;
  readonly speech: SpeechRow | null;
}

/** Usage by day, month, segment type or model. A key with costs in several currencies has an item for each. */
export async function listUsage(
  money: MoneyStore,
  firmUuid: string,
  { from, to, group }: { readonly from: Date | null; readonly to: Date | null; readonly group: Group },
): Promise<UsageItem[]> {
  const [models, speeches] = await Promise.all([
    money.usage(firmUuid, from, to, group),
    money.speech(firmUuid, from, to, group),
  ]);
  const items: UsageItem[] = models.map((model) => ({ key: model.key, model, speech: null }));
  for (const speech of speeches) {
    const at = items.findIndex(({ key, model, speech: other }) => {
      const isSame = model?.currency === speech.currency || model?.currency === null || speech.currency === null;
      return key === speech.key && other === null && isSame;
    });
    if (at === -1) items.push({ key: speech.key, model: null, speech });
    else items[at] = { ...items[at]!, speech };
  }
  return items.toSorted((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)));
}
