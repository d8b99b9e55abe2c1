import type { NewBudget, Usage as UsageList, UsageQuery } from '@call-analysis/api/money';
import type { BodyOf, BudgetSpent, Usage } from '@call-analysis/events';
import { type Database, type Sql, columnsOf } from '@call-analysis/postgres';
import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import type { Money } from '../language-model/prices.ts';

interface NewUsage extends Readonly<Usage> {
  readonly firmUuid: string;
  /** Null if the call has been erased. */
  readonly callUuid: string | null;
  readonly model: string;
  readonly segmentType: string;
  readonly audioSeconds: number;
}

interface NewSpeech {
  readonly eventId: string;
  readonly firmUuid: string;
  readonly callUuid: string;
  readonly at: string;
  readonly engine: string;
  readonly segmentType: string;
  readonly seconds: number;
  /** Null without a price. */
  readonly cost: Money | null;
}

/** The budget of a month when it is spent. */
type SpentBudget = NonNullable<BodyOf<typeof BudgetSpent>['budget']>;

type SetBudget = z.output<typeof NewBudget>;
export type AskedUsage = z.output<typeof UsageQuery>;
type Group = AskedUsage['group_by'];

const KEYS: Readonly<Record<Group, string>> = {
  day: `to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
  month: `to_char(at AT TIME ZONE 'UTC', 'YYYY-MM')`,
  segment_type: 'segment_type',
  model: 'model',
};

type UsageItem = z.output<typeof UsageList>['items'][number];
/** An item of usage has what a model cost, what speech cost, or both. */
export type SpeechRow = Pick<UsageItem, 'key' | 'speech_calls' | 'speech_seconds' | 'speech_cost'>;
export type UsageRow = Omit<UsageItem, Exclude<keyof SpeechRow, 'key'>>;

/** Null where the cost is not known. */
const COST = `CASE WHEN sum(cost) IS NOT NULL AND currency IS NOT NULL
  THEN jsonb_build_object('amount', trim_scale(sum(cost))::text, 'currency', currency) END`;

/** Usage, spending and budgets. Months and days are in UTC. */
export function openMoneyStore(db: Database) {
  return {
    /** Adds usage to the spending of its firm. Returns the budget of the month if this has spent it. */
    async record(tx: Sql, usage: NewUsage): Promise<SpentBudget | null> {
      const { firmUuid, callUuid, model, segmentType, audioSeconds, cost } = usage;
      const tokens = [usage.requests, usage.input_tokens, usage.cached_input_tokens, usage.output_tokens];
      const price = [cost?.amount ?? null, cost?.currency ?? null];
      await tx.query(
        `INSERT INTO model_usage (uuid, firm_uuid, call_uuid, at, model, segment_type, audio_seconds, requests, input_tokens,
           cached_input_tokens, output_tokens, cost, currency)
         VALUES ($1, $2, $3, now(), $4, $5, $6, $7, $8, $9, $10, $11::numeric, $12)`,
        [uuidv7(), firmUuid, callUuid, model, segmentType, audioSeconds, ...tokens, ...price],
      );
      if (cost === null) return null;
      const rows = await tx.query<Omit<SpentBudget, 'resets_at'>>(
        `WITH sum AS (
           INSERT INTO spending (firm_uuid, month, currency, amount)
           VALUES ($1, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM'), $2, $3::numeric)
           ON CONFLICT (firm_uuid, month, currency) DO UPDATE SET amount = spending.amount + excluded.amount
           RETURNING firm_uuid, month, currency, amount)
         SELECT month, trim_scale(budget.amount)::text AS amount, trim_scale(sum.amount)::text AS spent,
           currency, budget.when_spent
         FROM sum JOIN budget USING (firm_uuid, currency)
         WHERE sum.amount >= budget.amount AND sum.amount - $3::numeric < budget.amount`,
        [firmUuid, cost.currency, cost.amount],
      );
      return spentOf(rows[0]);
    },

    /** Adds the speech of transcripts; that of an event counts once. Budgets do not include it. */
    async recordSpeech(tx: Sql, speech: readonly NewSpeech[]): Promise<void> {
      if (speech.length === 0) return;
      await tx.query(
        `INSERT INTO speech_usage (event_id, firm_uuid, call_uuid, at, engine, segment_type, seconds, cost, currency)
         SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::float8[],
           $8::numeric[], $9::text[])
         ON CONFLICT (event_id) DO NOTHING`,
        [
          ...columnsOf(speech, 'eventId', 'firmUuid', 'callUuid', 'at', 'engine', 'segmentType', 'seconds'),
          speech.map((each) => each.cost?.amount ?? null),
          speech.map((each) => each.cost?.currency ?? null),
        ],
      );
    },

    /** Usage stays when a call is erased, without the call. */
    async forgetCall(tx: Sql, firmUuid: string, callUuid: string): Promise<void> {
      for (const table of ['model_usage', 'speech_usage'])
        await tx.query(`UPDATE ${table} SET call_uuid = NULL WHERE firm_uuid = $1 AND call_uuid = $2`, [
          firmUuid,
          callUuid,
        ]);
    },

    async findBudget(firmUuid: string): Promise<SetBudget> {
      const rows = await db.query<SetBudget>(
        `SELECT CASE WHEN amount IS NOT NULL THEN
           jsonb_build_object('amount', trim_scale(amount)::text, 'currency', currency) END AS monthly, when_spent
         FROM budget WHERE firm_uuid = $1`,
        [firmUuid],
      );
      return rows[0] ?? { monthly: null, when_spent: 'wait' };
    },

    /** Returns the budget of the current month where this has made it spent: the one before, if any, was not. */
    async saveBudget(tx: Sql, firmUuid: string, { monthly, when_spent }: SetBudget): Promise<SpentBudget | null> {
      const rows = await tx.query<Omit<SpentBudget, 'resets_at'>>(
        `WITH before AS (SELECT amount, currency FROM budget WHERE firm_uuid = $1),
         saved AS (
           INSERT INTO budget (firm_uuid, amount, currency, when_spent) VALUES ($1, $2::numeric, $3, $4)
           ON CONFLICT (firm_uuid) DO UPDATE SET amount = excluded.amount, currency = excluded.currency,
             when_spent = excluded.when_spent
           RETURNING firm_uuid, amount, currency, when_spent, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM') AS month),
         sum AS (
           SELECT month, saved.amount, coalesce(spending.amount, 0) AS spent, currency, when_spent
           FROM saved LEFT JOIN spending USING (firm_uuid, currency, month))
         SELECT month, trim_scale(amount)::text AS amount, trim_scale(spent)::text AS spent, currency, when_spent
         FROM sum WHERE spent >= amount
           AND NOT EXISTS (SELECT FROM before WHERE before.currency = sum.currency AND sum.spent >= before.amount)`,
        [firmUuid, monthly?.amount ?? null, monthly?.currency ?? null, when_spent],
      );
      return spentOf(rows[0]);
    },

    /** The firm's costs in the current month, as a decimal number. */
    async spentThisMonth(firmUuid: string, currency: string): Promise<string> {
      const rows = await db.query<{ amount: string }>(
        `SELECT trim_scale(amount)::text AS amount FROM spending
         WHERE firm_uuid = $1 AND currency = $2 AND month = to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM')`,
        [firmUuid, currency],
      );
      return rows[0]?.amount ?? '0';
    },

    /** From `from`, inclusive, to `to`, exclusive. A currency has an item of its own. */
    async usage(firmUuid: string, { from, to, group_by }: AskedUsage): Promise<UsageRow[]> {
      return db.query<UsageRow>(
        `SELECT ${KEYS[group_by]} AS key, count(DISTINCT coalesce(call_uuid, uuid))::float8 AS calls,
           sum(audio_seconds)::float8 AS audio_seconds,
           sum(requests)::float8 AS requests, sum(input_tokens)::float8 AS input_tokens,
           sum(cached_input_tokens)::float8 AS cached_input_tokens, sum(output_tokens)::float8 AS output_tokens,
           ${COST} AS cost
         FROM model_usage
         WHERE firm_uuid = $1 AND ($2::timestamptz IS NULL OR at >= $2) AND ($3::timestamptz IS NULL OR at < $3)
         GROUP BY 1, currency ORDER BY 1, currency`,
        [firmUuid, from ?? null, to ?? null],
      );
    },

    async speech(firmUuid: string, { from, to, group_by }: AskedUsage): Promise<SpeechRow[]> {
      return db.query<SpeechRow>(
        `SELECT ${group_by === 'model' ? 'engine' : KEYS[group_by]} AS key,
           count(DISTINCT coalesce(call_uuid, event_id))::float8 AS speech_calls, sum(seconds)::float8 AS speech_seconds,
           ${COST} AS speech_cost
         FROM speech_usage
         WHERE firm_uuid = $1 AND ($2::timestamptz IS NULL OR at >= $2) AND ($3::timestamptz IS NULL OR at < $3)
         GROUP BY 1, currency ORDER BY 1, currency`,
        [firmUuid, from ?? null, to ?? null],
      );
    },
  };
}

export type MoneyStore = ReturnType<typeof openMoneyStore>;

function spentOf(budget: Omit<SpentBudget, 'resets_at'> | undefined): SpentBudget | null {
  if (budget === undefined) return null;
  return { ...budget, resets_at: nextMonth(new Date(`${budget.month}-01T00:00:00Z`)).toISOString() };
}

/** When the month after that of `now` begins, in UTC. */
export function nextMonth(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
}
