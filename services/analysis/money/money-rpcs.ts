import type { AnalysisEstimate } from '@call-analysis/api/jobs';
import { NewBudget, UsageQuery } from '@call-analysis/api/money';
import type { Bus } from '@call-analysis/bus';
import { BudgetSpent, createEvent, Uuid } from '@call-analysis/events';
import { Fault, invalidFields } from '@call-analysis/fault';
import type { analysis } from '@call-analysis/proto';
import type { Handlers } from '@call-analysis/rpc';
import { apiRpc } from '@call-analysis/service';
import { z } from 'zod';
import { askedQuestions, maxOutputTokens, usualOutputTokens, writeInstructions } from '../analysts/model/prompt.ts';
import { estimateTokens } from '../analysts/model/sent-conversation.ts';
import { costOf, formatAmount, NO_TOKENS, type Prices } from '../language-model/prices.ts';
import type { ActiveScorecards } from '../scorecards/active-scorecards.ts';
import type { ScorecardUse } from '../scorecards/scorecard-store.ts';
import type { Scorecard } from '../scorecards/scorecard.ts';
import { type MoneyStore, nextMonth, type SpeechRow, type UsageRow } from './money-store.ts';

export interface MoneyDeps {
  readonly store: ScorecardUse & { readonly money: MoneyStore };
  readonly bus: Pick<Bus, 'publish'>;
  readonly activeScorecards: ActiveScorecards;
  /** Absent without a language model. */
  readonly model?: { readonly prices?: Prices | undefined } | null | undefined;
}

/** What is known of calls before they are analyzed. `text_bytes`: of all transcripts together. */
const Measured = z.object({ calls: z.number(), text_bytes: z.number(), scorecard_uuid: Uuid.optional() });

export function moneyRpcs({
  store,
  bus,
  activeScorecards,
  model,
}: MoneyDeps): Pick<Handlers<typeof analysis>, 'getBudget' | 'setBudget' | 'listUsage' | 'estimateAnalyses'> {
  const { money, scorecards } = store;
  const prices = model?.prices;
  return {
    getBudget: apiRpc(({ caller }) => readBudget(money, prices, caller.firmUuid)),
    setBudget: apiRpc(({ caller, read }) => changeBudget({ store, bus }, prices, caller.firmUuid, read(NewBudget))),
    listUsage: apiRpc(async ({ caller, read }) => ({
      items: await listUsage(money, caller.firmUuid, read(UsageQuery)),
    })),
    estimateAnalyses: apiRpc(async ({ caller: { firmUuid }, read }) => {
      const { scorecard_uuid: uuid, calls, text_bytes: bytes } = read(Measured);
      const scorecard =
        uuid === undefined
          ? (await activeScorecards.find([{ firmUuid, segmentType: '' }]))[0]!
          : await findNamedScorecard(scorecards, firmUuid, uuid);
      // Rules use no tokens.
      if (model === undefined || model === null) return { calls, input_tokens: 0, output_tokens: 0, cost: null };
      return estimateAnalyses(calls, bytes, scorecard, prices);
    }),
  };
}

const NO_USAGE = { calls: 0, audio_seconds: 0, ...NO_TOKENS, cost: null };
const NO_SPEECH = { speech_calls: 0, speech_seconds: 0, speech_cost: null };

/** Fault VALIDATION_ERROR for a scorecard that is not the firm's, or not active. */
async function findNamedScorecard(scorecards: ScorecardUse['scorecards'], firmUuid: string, uuid: string) {
  const wrong = (message: string) => invalidFields([{ field: 'scorecard_uuid', code: 'INVALID', message }]);
  const found = await scorecards.find(firmUuid, uuid).catch((error: unknown) => {
    if (error instanceof Fault && error.code === 'NOT_FOUND') throw wrong('is not a scorecard of this firm');
    throw error;
  });
  if (!found.is_active) throw wrong('is not active; activate it first');
  return found;
}

/** Usage by day, month, segment type or model. A key with costs in several currencies has an item for each. */
export async function listUsage(
  money: MoneyStore,
  firmUuid: string,
  asked: z.output<typeof UsageQuery>,
): Promise<(UsageRow & SpeechRow)[]> {
  const [models, speeches] = await Promise.all([money.usage(firmUuid, asked), money.speech(firmUuid, asked)]);
  const items: (UsageRow & SpeechRow)[] = models.map((model) => ({ ...model, ...NO_SPEECH }));
  for (const speech of speeches) {
    const at = items.findIndex(({ key, cost, speech_calls }) => {
      const isSame = cost === null || speech.speech_cost === null || cost.currency === speech.speech_cost.currency;
      return key === speech.key && speech_calls === 0 && isSame;
    });
    if (at === -1) items.push({ ...NO_USAGE, ...speech });
    else items[at] = { ...items[at]!, ...speech };
  }
  return items.toSorted((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)));
}

/** Letters of one byte are about a third of a token, those of two bytes half of one. */
const TOKENS_PER_BYTE = 0.3;
/** The sentences and delimiters around a conversation, and what a schema takes. */
const TOKENS_PER_REQUEST = 250;
/** Tokenizers differ, and some calls are asked about twice. */
const LOW = 0.5;
const HIGH = 2;

/** The tokens and cost of analyzing calls by a language model, from the total size of their transcripts in bytes. */
export function estimateAnalyses(
  calls: number,
  textBytes: number,
  scorecard: Pick<Scorecard, 'sections'>,
  prices: Prices | undefined,
): z.output<typeof AnalysisEstimate> {
  const questions = scorecard.sections
    .flatMap((each) => each.questions)
    .filter(({ decided }) => decided.by === 'model');
  const perCall = estimateTokens(writeInstructions(askedQuestions(questions), 'en')) + TOKENS_PER_REQUEST;
  const input_tokens = Math.ceil(calls * perCall + textBytes * TOKENS_PER_BYTE);
  const output_tokens = calls * usualOutputTokens(questions.length);
  const tokens = { calls, input_tokens, output_tokens };
  if (prices === undefined) return { ...tokens, cost: null };
  const scaled = (factor: number, output: number) => ({
    requests: calls,
    input_tokens: Math.ceil(input_tokens * factor),
    cached_input_tokens: 0,
    output_tokens: Math.ceil(output),
  });
  // Cached tokens may cost less; a short answer has hardly more than its braces.
  const cheapest = { ...prices, input: prices.cachedInput < prices.input ? prices.cachedInput : prices.input };
  const low = costOf(scaled(LOW, output_tokens * 0.15), cheapest);
  const high = costOf(scaled(HIGH, calls * maxOutputTokens(questions.length)), prices);
  return { ...tokens, cost: { low: formatAmount(low), high: formatAmount(high), currency: prices.currency } };
}

/** A firm's budget of the calendar month, in UTC, and what it has spent of it. */
async function readBudget(money: MoneyStore, prices: Prices | undefined, firmUuid: string) {
  const budget = await money.findBudget(firmUuid);
  const currency = prices?.currency ?? budget.monthly?.currency ?? null;
  const spent = currency === null ? null : { amount: await money.spentThisMonth(firmUuid, currency), currency };
  return { ...budget, spent, warning: warningOf(budget, prices), resets_at: nextMonth(new Date()) };
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
async function changeBudget(
  { store: { db, money }, bus }: Pick<MoneyDeps, 'store' | 'bus'>,
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
