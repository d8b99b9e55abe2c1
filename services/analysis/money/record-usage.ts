import type { Bus } from '@call-analysis/bus';
import { BudgetSpent, createEvent, type EventOrigin } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import type { LanguageModelConfig } from '../language-model/config.ts';
import { type Tokens, usageOf } from '../language-model/prices.ts';
import type { MoneyStore } from './money-store.ts';

interface Used {
  /** Of the event that says that a budget is spent. */
  readonly origin: EventOrigin;
  /** Null if the call has been erased. */
  readonly callUuid: string | null;
  readonly segmentType: string;
  readonly audioSeconds: number;
  readonly tokens: Tokens;
}

/** Adds what the language model cost to the usage of a firm, and publishes when that has spent its budget. */
export async function recordUsage(
  deps: {
    readonly store: { readonly money: MoneyStore };
    readonly bus: Pick<Bus, 'publish'>;
    readonly config: Pick<LanguageModelConfig, 'model' | 'prices'>;
  },
  tx: Sql,
  { origin, tokens, ...call }: Used,
): Promise<void> {
  if (tokens.requests === 0) return;
  const { store, bus, config } = deps;
  const firmUuid = origin.firmuuid;
  const usage = usageOf(tokens, config.prices);
  const budget = await store.money.record(tx, { ...call, ...usage, firmUuid, model: config.model });
  if (budget !== null) await bus.publish(tx, [createEvent('analysis', BudgetSpent, firmUuid, origin, { budget })]);
}
