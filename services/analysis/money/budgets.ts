import type { NewBudget } from '@call-analysis/api/money';
import type { Bus } from '@call-analysis/bus';
import { BudgetSpent, createEvent } from '@call-analysis/events';
import { Fault, invalidFields } from '@call-analysis/fault';
import type { Database } from '@call-analysis/postgres';
import type { z } from 'zod';
import type { Prices } from '../language-model/prices.ts';
import { type MoneyStore, nextMonth } from './money-store.ts';

export interface BudgetDeps {
  readonly store: { readonly db: Database; readonly money: MoneyStore };
  readonly bus: Pick<Bus, 'publish'>;
}

/** A firm's budget of the calendar month, in UTC, and what it has spent of it. */
export async function readBudget(money: MoneyStore, prices: Prices | undefined, firmUuid: string, now = new Date()) {
  const budget = await money.findBudget(firmUuid);
  const currency = prices?.currency ?? budget.monthly?.currency ?? null;
  const spent = currency === null ? null : { amount: await money.spentThisMonth(firmUuid, currency), currency };
  return { ...budget, spent, warning: warningOf(budget, prices), resets_at: nextMonth(now) };
}

/** Prices may change after a budget was set. */
function warningOf({ monthly }: z.output<typeof NewBudget>, prices: Prices | undefined): string | null {
  if (monthly === null || prices === undefined || monthly.currency === prices.currency) return null;
  return `The budget is in ${monthly.currency}, but the prices are in ${prices.currency}, so the budget stops nothing. Set it in ${prices.currency}.`;
}

/**
 * A budget below what the month has cost so far is spent at once, which is published like any other that is spent.
 * Faults: PRICES_UNKNOWN when a limit cannot be kept, because no prices are configured; VALIDATION_ERROR.
 */
export async function changeBudget(
  { store: { db, money }, bus }: BudgetDeps,
  prices: Prices | undefined,
  firmUuid: string,
  budget: z.output<typeof NewBudget>,
) {
  if (budget.monthly !== null) {
    if (prices === undefined) {
      throw new Fault(
        'conflict',
        'PRICES_UNKNOWN',
        'Nobody knows what the language model costs. Have LLM_PRICE_INPUT and LLM_PRICE_OUTPUT set, then set the budget.',
      );
    }
    if (budget.monthly.currency !== prices.currency) {
      const message = `must be ${prices.currency}, the currency of the prices`;
      throw invalidFields([{ field: 'monthly.currency', code: 'INVALID', message }]);
    }
  }
  await db.transaction(async (tx) => {
    const spent = await money.saveBudget(tx, firmUuid, budget);
    if (spent === null) return;
    const event = createEvent('analysis', BudgetSpent, firmUuid, { firmuuid: firmUuid }, { budget: spent });
    await bus.publish(tx, [event]);
  });
  return readBudget(money, prices, firmUuid);
}
