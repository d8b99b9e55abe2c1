import { estimateTokens } from '../analysts/model/estimate-tokens.ts';
import { askedQuestions, maxOutputTokens, usualOutputTokens, writeInstructions } from '../analysts/model/prompt.ts';
import { costOf, type Prices } from '../language-model/prices.ts';
import type { Scorecard } from '../scorecards/scorecard.ts';

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
