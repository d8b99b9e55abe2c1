import type { Bus } from '@call-analysis/bus';
import { BudgetSpent, createEvent } from '@call-analysis/events';
import { Fault, invalidFields } from '@call-analysis/fault';
import type { Database } from '@call-analysis/postgres';
import type { Prices } from '../language-model/prices.ts';
import { type BudgetRow, type MoneyStore, nextMonth } from './money-store.ts';

export interface BudgetDeps {
  readonly store: { readonly db: Database; readonly money: MoneyStore };
  readonly bus: Pick<Bus, 'publish'>;
}

export interface Budget extends BudgetRow {
  /** In the current month; null without prices. */
  readonly spent: { readonly amount: string; readonly currency: string } | null;
  /** Why the budget stops nothing; null when it does. */
  readonly warning: string | null;
  readonly resetsAt: Date;
}

/** A firm's budget of the calendar month, in UTC, and what it has spent of it. */
export async function readBudget(
  money: MoneyStore,
  prices: Prices | undefined,
  firmUuid: string,
  now = new Date(),
): Promise<Budget> {
  const budget = await money.findBudget(firmUuid);
  const currency = prices?.currency ?? budget.currency;
  const spent = currency === null ? null : { amount: await money.spentThisMonth(firmUuid, currency), currency };
  return { ...budget, spent, warning: warningOf(budget, prices), resetsAt: nextMonth(now) };
}

/** Prices may change after a budget was set. */
function warningOf({ amount, currency }: BudgetRow, prices: Prices | undefined): string | null {
  if (amount === null || prices === undefined || currency === prices.currency) return null;
  return `The budget is in ${currency}, but the prices are in ${prices.currency}, so the budget stops nothing. Set it in ${prices.currency}.`;
}

/**
 * A budget below what the month has cost so far is spent at once, which is published like any other that is spent.
 * Faults: PRICES_UNKNOWN when a limit cannot be kept, because no prices are configured; VALIDATION_ERROR.
 */
export async function changeBudget(
  { store: { db, money }, bus }: BudgetDeps,
  prices: Prices | undefined,
  firmUuid: string,
  budget: BudgetRow,
): Promise<Budget> {
  if (budget.amount !== null) {
    if (prices === undefined) {
      throw new Fault(
        'conflict',
        'PRICES_UNKNOWN',
        'Nobody knows what the language model costs. Have LLM_PRICE_INPUT and LLM_PRICE_OUTPUT set, then set the budget.',
      );
    }
    if (budget.currency !== prices.currency) {
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
