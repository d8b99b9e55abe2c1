import type { Usage } from '@call-analysis/events';
import { ConfigFault, type Environment, parseConfig } from '@call-analysis/runtime';
import { z } from 'zod';

/** The price of a minute of speech, in billionths of the currency. */
export interface SpeechPrice {
  readonly perMinute: bigint;
  readonly currency: string;
}

/** Prices per million tokens, in billionths of the currency, so that sums are exact. */
export interface Prices {
  readonly input: bigint;
  readonly cachedInput: bigint;
  readonly output: bigint;
  readonly currency: string;
}

const DECIMALS = 9;
const PER_TOKENS = 1_000_000n;

const Price = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,9})?$/, 'must be a decimal number, such as 0.25')
  .transform(parseAmount)
  .optional();

const Currency = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be a currency of three capital letters, such as USD')
  .default('USD');

export const SpeechPriceVariables = z.object({
  SPEECH_PRICE_PER_MINUTE: Price.meta({
    description: 'The price of a minute of transcribed speech. Without it, the cost of speech is unknown.',
  }),
  SPEECH_CURRENCY: Currency.meta({ description: 'The currency of that price.' }),
});

/** Null without a price. */
export function speechPrice(env: Environment): SpeechPrice | null {
  const { SPEECH_PRICE_PER_MINUTE: perMinute, SPEECH_CURRENCY: currency } = parseConfig(SpeechPriceVariables, env);
  return perMinute === undefined ? null : { perMinute, currency };
}

/** The cost of seconds of speech, rounded up to a billionth. */
export function costOfSpeech(seconds: number, { perMinute, currency }: SpeechPrice): Money {
  const product = BigInt(Math.round(seconds * 1000)) * perMinute;
  return { amount: formatAmount((product + 59_999n) / 60_000n), currency };
}

export const PriceVariables = z.object({
  LLM_PRICE_INPUT: Price.meta({
    description: 'The price of a million input tokens. Without prices costs are unknown.',
  }),
  LLM_PRICE_CACHED_INPUT: Price.meta({
    description: 'The price of a million input tokens that the server had cached.',
    defaultText: 'LLM_PRICE_INPUT',
  }),
  LLM_PRICE_OUTPUT: Price.meta({ description: 'The price of a million output tokens.' }),
  LLM_CURRENCY: Currency.meta({ description: 'The currency of the prices.' }),
});

export function pricesFrom(read: z.output<typeof PriceVariables>): Prices | undefined {
  const { LLM_PRICE_INPUT: input, LLM_PRICE_OUTPUT: output, LLM_PRICE_CACHED_INPUT: cachedInput = input } = read;
  if (input === undefined && output === undefined && cachedInput === undefined) return undefined;
  if (input === undefined || output === undefined || cachedInput === undefined) {
    throw new ConfigFault('LLM_PRICE_INPUT and LLM_PRICE_OUTPUT must be set together.');
  }
  return { input, output, cachedInput, currency: read.LLM_CURRENCY };
}

/** `amount` is a decimal number. */
export interface Money {
  readonly amount: string;
  readonly currency: string;
}

/** Tokens of one or several requests. Input tokens include the cached ones. */
export type Tokens = Readonly<Omit<Usage, 'cost'>>;

export const NO_TOKENS: Tokens = { requests: 0, input_tokens: 0, cached_input_tokens: 0, output_tokens: 0 };

export function addTokens(one: Tokens, other: Tokens): Tokens {
  return {
    requests: one.requests + other.requests,
    input_tokens: one.input_tokens + other.input_tokens,
    cached_input_tokens: one.cached_input_tokens + other.cached_input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
  };
}

/** The cost of tokens in billionths of the currency, rounded up. */
export function costOf(tokens: Tokens, prices: Prices): bigint {
  const cached = BigInt(Math.min(tokens.cached_input_tokens, tokens.input_tokens));
  const fresh = BigInt(tokens.input_tokens) - cached;
  const total = fresh * prices.input + cached * prices.cachedInput + BigInt(tokens.output_tokens) * prices.output;
  return (total + PER_TOKENS - 1n) / PER_TOKENS;
}

export function usageOf(tokens: Tokens, prices: Prices | undefined): Usage {
  const cost = prices && { amount: formatAmount(costOf(tokens, prices)), currency: prices.currency };
  return { ...tokens, cost: cost ?? null };
}

/** A decimal number in billionths. */
export function parseAmount(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole) * 10n ** BigInt(DECIMALS) + BigInt(fraction.padEnd(DECIMALS, '0').slice(0, DECIMALS));
}

/** Billionths as a decimal number without trailing zeros. */
export function formatAmount(billionths: bigint): string {
  const digits = billionths.toString().padStart(DECIMALS + 1, '0');
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '');
  return `${digits.slice(0, -DECIMALS)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The tokens of an analysis; none where no language model was asked. */
export function tokensOf(usage: Usage | null | undefined): Tokens {
  const { cost: _cost, ...tokens } = usage ?? { ...NO_TOKENS, cost: null };
  return tokens;
}
