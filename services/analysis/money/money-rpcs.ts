import type { Bus } from '@call-analysis/bus';
import { Uuid, WhenSpent } from '@call-analysis/events';
import { Fault, invalidFields } from '@call-analysis/fault';
import type { analysis } from '@call-analysis/proto';
import type { Budget as BudgetMessage } from '@call-analysis/proto/analysis/v1/Budget';
import type { Handlers } from '@call-analysis/rpc';
import { requireCaller } from '@call-analysis/service';
import type { Firms } from '@call-analysis/service/firms';
import { z } from 'zod';
import { askedQuestions, maxOutputTokens, usualOutputTokens, writeInstructions } from '../analysts/model/prompt.ts';
import { estimateTokens } from '../analysts/model/windows.ts';
import { costOf, formatAmount, type Prices } from '../language-model/prices.ts';
import { findActiveScorecards } from '../scorecards/find-active-scorecards.ts';
import type { ScorecardCache } from '../scorecards/scorecard-cache.ts';
import type { ScorecardUse } from '../scorecards/scorecard-store.ts';
import type { Scorecard } from '../scorecards/scorecard.ts';
import { type Budget, changeBudget, readBudget } from './budgets.ts';
import { type Group, GROUPS, type MoneyStore, type SpeechRow, type UsageRow } from './money-store.ts';

const Time = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const Amount = z.string().regex(/^\d{1,11}(\.\d{1,9})?$/);

export interface MoneyDeps {
  readonly store: ScorecardUse & { readonly money: MoneyStore };
  readonly bus: Pick<Bus, 'publish'>;
  readonly scorecardCache: ScorecardCache;
  readonly firms: Pick<Firms, 'settings'>;
  /** Absent without a language model. */
  readonly model?: { readonly prices?: Prices | undefined } | null | undefined;
}

/** The RPCs for usage, budgets and estimates. */
export function moneyRpcs({
  store,
  bus,
  scorecardCache,
  firms,
  model,
}: MoneyDeps): Pick<Handlers<typeof analysis>, 'getBudget' | 'setBudget' | 'listUsage' | 'estimateAnalyses'> {
  const { money, scorecards } = store;
  const prices = model?.prices;
  return {
    getBudget: async (request) =>
      budgetMessage(await readBudget(money, prices, requireCaller(request.caller).firmUuid)),
    setBudget: async (request) => {
      const amount = request.amount === undefined ? null : Amount.parse(request.amount);
      const whenSpent = WhenSpent.parse(request.when_spent);
      const budget = { amount, currency: amount === null ? null : (request.currency ?? null), whenSpent };
      return budgetMessage(await changeBudget({ store, bus }, prices, requireCaller(request.caller).firmUuid, budget));
    },
    listUsage: async (request) => {
      const [from, to] = [request.from, request.to].map((time) => (time === undefined ? null : Time.parse(time)));
      const group = z.enum(GROUPS).parse(request.group_by);
      const items = await listUsage(money, requireCaller(request.caller).firmUuid, { from: from!, to: to!, group });
      return {
        items: items.map(({ key, model: asked, speech }) => ({
          key,
          calls: asked?.calls ?? 0,
          audio_seconds: asked?.audioSeconds ?? 0,
          requests: asked?.requests ?? 0,
          input_tokens: asked?.inputTokens ?? 0,
          cached_input_tokens: asked?.cachedInputTokens ?? 0,
          output_tokens: asked?.outputTokens ?? 0,
          ...amountOf('cost', 'currency', asked),
          speech_calls: speech?.calls ?? 0,
          speech_seconds: speech?.seconds ?? 0,
          ...amountOf('speech_cost', 'speech_currency', speech),
        })),
      };
    },
    estimateAnalyses: async (request) => {
      const firmUuid = requireCaller(request.caller).firmUuid;
      const { scorecard_uuid: uuid, calls, text_bytes: bytes } = request;
      const scorecard =
        uuid === undefined
          ? (await findActiveScorecards({ store, scorecardCache, firms }, [{ firmUuid, segmentType: '' }]))[0]!
          : await findNamedScorecard(scorecards, firmUuid, Uuid.parse(uuid));
      // Rules use no tokens.
      if (model === undefined || model === null) return { input_tokens: 0, output_tokens: 0 };
      const { inputTokens, outputTokens, cost } = estimateAnalyses(calls, bytes, scorecard, prices);
      return {
        input_tokens: inputTokens,
        output_tokens: outputTokens,
        ...(cost !== null && {
          cost_low: formatAmount(cost.low),
          cost_high: formatAmount(cost.high),
          currency: cost.currency,
        }),
      };
    },
  };
}

type Cost = { readonly cost: string | null; readonly currency: string | null };

/** Fields that are absent when the cost is not known. */
function amountOf(amount: string, currency: string, row: Cost | null) {
  return row === null || row.cost === null || row.currency === null
    ? {}
    : { [amount]: row.cost, [currency]: row.currency };
}

/** Fault VALIDATION_ERROR for a scorecard that is not the firm's, or not active. */
async function findNamedScorecard(scorecards: ScorecardUse['scorecards'], firmUuid: string, uuid: string) {
  const wrong = (message: string) => invalidFields([{ field: 'scorecard_uuid', code: 'INVALID', message }]);
  const found = await scorecards.find(firmUuid, uuid).catch((error: unknown) => {
    if (error instanceof Fault && error.code === 'NOT_FOUND') throw wrong('is not a scorecard of this firm');
    throw error;
  });
  if (!found.isActive) throw wrong('is not active; activate it first');
  return found;
}

function budgetMessage({ amount, currency, whenSpent, spent, warning, resetsAt }: Budget): BudgetMessage {
  return {
    ...(amount !== null && { amount }),
    ...(currency !== null && { currency }),
    when_spent: whenSpent,
    ...(warning !== null && { warning }),
    ...(spent !== null && { spent: spent.amount, spent_currency: spent.currency }),
    resets_at: resetsAt.toISOString(),
  };
}

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

/** Letters of one byte are about a third of a token, those of two bytes half of one. */
const TOKENS_PER_BYTE = 0.3;
/** The sentences and delimiters around a conversation, and what a schema takes. */
const TOKENS_PER_REQUEST = 250;
/** Tokenizers differ, and some calls are asked about twice. */
const LOW = 0.5;
const HIGH = 2;

interface Estimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In billionths; null without prices. */
  readonly cost: { readonly low: bigint; readonly high: bigint; readonly currency: string } | null;
}

/** The tokens and cost of analyzing calls by a language model, from the total size of their transcripts in bytes. */
export function estimateAnalyses(
  calls: number,
  textBytes: number,
  scorecard: Pick<Scorecard, 'sections'>,
  prices: Prices | undefined,
): Estimate {
  const questions = scorecard.sections
    .flatMap((each) => each.questions)
    .filter(({ decided }) => decided.by === 'model');
  const perCall = estimateTokens(writeInstructions(askedQuestions(questions), 'en')) + TOKENS_PER_REQUEST;
  const inputTokens = Math.ceil(calls * perCall + textBytes * TOKENS_PER_BYTE);
  const outputTokens = calls * usualOutputTokens(questions.length);
  if (prices === undefined) return { inputTokens, outputTokens, cost: null };
  const scaled = (factor: number, output: number) => ({
    requests: calls,
    input: Math.ceil(inputTokens * factor),
    cachedInput: 0,
    output: Math.ceil(output),
  });
  // Cached tokens may cost less; a short answer has hardly more than its braces.
  const cheapest = { ...prices, input: prices.cachedInput < prices.input ? prices.cachedInput : prices.input };
  const low = costOf(scaled(LOW, outputTokens * 0.15), cheapest);
  const high = costOf(scaled(HIGH, calls * maxOutputTokens(questions.length)), prices);
  return { inputTokens, outputTokens, cost: { low, high, currency: prices.currency } };
}
