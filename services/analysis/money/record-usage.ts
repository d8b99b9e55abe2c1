import type { Bus } from '@call-analysis/bus';
import { BudgetSpent, createEvent, type EventOrigin } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import { v7 as uuidv7 } from 'uuid';
import type { LanguageModelConfig } from '../language-model/config.ts';
import { type Tokens, usageOf } from '../language-model/prices.ts';
import type { MoneyStore } from './money-store.ts';

/** What a language model was asked about a call. */
interface Used {
  /** Of the event that says that a budget is spent. */
  readonly origin: EventOrigin;
  /** Null if the call has been erased. */
  readonly callUuid: string | null;
  readonly segmentType: string;
  readonly audioSeconds: number;
  readonly tokens: Tokens;
}

/** Adds what the language model cost to the usage of firms, and publishes which budgets that has spent. */
export async function recordUsage(
  deps: {
    readonly store: { readonly money: MoneyStore };
    readonly bus: Pick<Bus, 'publish'>;
    readonly config: Pick<LanguageModelConfig, 'model' | 'prices'>;
  },
  tx: Sql,
  used: readonly Used[],
): Promise<void> {
  const { store, bus, config } = deps;
  const paid = used.filter(({ tokens }) => tokens.requests > 0);
  const usages = paid.map(({ origin, tokens, ...call }) => ({
    ...call,
    ...usageOf(tokens, config.prices),
    uuid: uuidv7(),
    firmUuid: origin.firmuuid,
    at: new Date(),
    model: config.model,
  }));
  const spent = [...(await store.money.record(tx, usages))].map(([firm, budget]) => {
    const { origin } = paid.find((each) => each.origin.firmuuid === firm)!;
    return createEvent('analysis', BudgetSpent, firm, origin, { budget });
  });
  if (spent.length > 0) await bus.publish(tx, spent);
}
