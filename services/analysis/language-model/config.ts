import { ConfigFault, duration, type Environment, group, hasNoCredentials, parseConfig } from '@call-analysis/runtime';
import { z } from 'zod';
import { type Prices, pricesFrom, PriceVariables } from './prices.ts';

/** How a server is asked for JSON, the strictest first. */
export const Structured = z.enum(['json_schema', 'json_object_schema', 'json_object', 'prompt']);
export type Structured = z.infer<typeof Structured>;

/** The language model that answers questions, and how hard it may be asked. */
export interface LanguageModelConfig {
  readonly provider: 'openai' | 'anthropic';
  /** The base of the server's API, with its version: `https://api.openai.com/v1`. */
  readonly url: string;
  readonly model: string;
  readonly apiKey?: string | undefined;
  /** Absent: found out with the first requests, and remembered. */
  readonly structured?: Structured | undefined;
  /** Tokens of a request and its answer together. Absent: until the server refuses a request as too long. */
  readonly contextTokens?: number | undefined;
  readonly concurrency: number;
  readonly tokensPerMinute?: number | undefined;
  /** The deadline of one request. */
  readonly timeoutMs: number;
  readonly giveUpAfterMs: number;
  /** Absent: unless the server is on this machine. */
  readonly redact?: boolean | undefined;
  readonly prices?: Prices | undefined;
}

function wholeNumber(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= least && value <= most, message);
}

export const LanguageModelVariables = z.object({
  LLM_PROVIDER: z.enum(['openai', 'anthropic']).default('openai').meta({
    description: '`openai` is any server with OpenAI’s chat completions; see docs/language-models.md.',
  }),
  LLM_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .refine(hasNoCredentials, 'must not contain a user or password; put a key into LLM_API_KEY')
    .optional()
    .meta({ description: 'The server of the language model that answers questions; needs LLM_MODEL.' }),
  LLM_MODEL: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'The name of the model, as its server knows it.' }),
  LLM_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must consist of visible ASCII characters without spaces')
    .optional()
    .meta({ description: 'The API key of that server, if it requires one.', secret: true }),
  LLM_STRUCTURED: Structured.optional().meta({
    description: 'How the server is asked for JSON.',
    defaultText: 'found out with the first requests',
  }),
  LLM_CONTEXT_TOKENS: wholeNumber(1_000, 100_000_000).optional().meta({
    description: 'The most tokens of a request and its answer. Longer calls are analyzed in windows.',
    defaultText: 'what the server says when a request is too long',
  }),
  LLM_CONCURRENCY: wholeNumber(1, 1000).default(4).meta({
    description: 'The most concurrent requests of one process. Fewer are sent while the server refuses some.',
  }),
  LLM_TOKENS_PER_MINUTE: wholeNumber(1_000, 999_999_999).optional().meta({
    description: 'Tokens that one process may use in a minute.',
    defaultText: 'no limit but those that the server sets',
  }),
  LLM_TIMEOUT: duration().default(300_000).meta({ description: 'The deadline of one request.', defaultText: '5m' }),
  LLM_GIVE_UP_AFTER: duration()
    .default(86_400_000)
    .meta({ description: 'How long calls wait for the server before they fail.', defaultText: '24h' }),
  REDACT_FOR_MODEL: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({
      description:
        'Replaces phone numbers, cards, accounts, addresses and identity numbers in what is sent to the model.',
      defaultText: 'true, unless LLM_URL is on this machine',
    }),
  ...PriceVariables.shape,
});

export const ReviewVariables = z.object({
  REVIEW_BELOW: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .default(0.7)
    .meta({ description: 'Answers whose confidence is lower need a review.' }),
});

/** Null without a language model: the rules answer what they can. ConfigFault when only part of it is set. */
export function languageModelConfig(env: Environment): LanguageModelConfig | null {
  const read = parseConfig(LanguageModelVariables, env);
  const prices = pricesFrom(read);
  if (group(env, ['LLM_URL', 'LLM_MODEL']) === 'none') {
    const named = (['LLM_API_KEY', 'LLM_STRUCTURED', 'LLM_PRICE_INPUT'] as const).find(
      (name) => read[name] !== undefined,
    );
    if (named !== undefined) throw new ConfigFault(`${named} is set, so LLM_URL and LLM_MODEL must be set too.`);
    return null;
  }
  return {
    provider: read.LLM_PROVIDER,
    url: read.LLM_URL!.replace(/\/+$/, ''),
    model: read.LLM_MODEL!,
    apiKey: read.LLM_API_KEY,
    structured: read.LLM_STRUCTURED,
    contextTokens: read.LLM_CONTEXT_TOKENS,
    concurrency: read.LLM_CONCURRENCY,
    tokensPerMinute: read.LLM_TOKENS_PER_MINUTE,
    timeoutMs: read.LLM_TIMEOUT,
    giveUpAfterMs: read.LLM_GIVE_UP_AFTER,
    redact: read.REDACT_FOR_MODEL,
    prices,
  };
}

/** Whether personal data is replaced in what the model gets: by default unless the server is on this machine. */
export function redacts({ redact, url }: LanguageModelConfig): boolean {
  const { hostname } = new URL(url);
  const isHere = hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
  return redact ?? !isHere;
}
