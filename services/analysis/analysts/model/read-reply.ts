import { Resolution } from '@call-analysis/events';
import { parsePartialJson } from 'ai';
import { z } from 'zod';
import { TOPICS } from '../../rules/topics.ts';

const MAX_TOPICS = 5;

const RawAnswer = z.object({
  question_uuid: z.string(),
  answer: z.string().nullable(),
  confidence: z.coerce.number().min(0).max(1).nullable().catch(null),
  quotes: z
    .array(
      z
        .object({ utterance: z.coerce.number().int().catch(-1), quote: z.string() })
        .nullable()
        .catch(null),
    )
    .catch([]),
  explanation: z.string().catch(''),
});
export type RawAnswer = z.infer<typeof RawAnswer>;

const Sentiment = z.number().min(-1).max(1).nullable().catch(null);

/** A model's answer as far as it can be used: what is missing or wrong is null, or left out. */
const RawReply = z.object({
  answers: z
    .array(RawAnswer.nullable().catch(null))
    .transform((answers) => answers.filter((answer) => answer !== null))
    .catch([]),
  summary: z.string().catch(''),
  reason: z.string().nullable().catch(null),
  resolution: Resolution.nullable().catch(null),
  topics: z
    .array(z.unknown())
    .transform((topics) => TOPICS.filter((topic) => topics.includes(topic)).slice(0, MAX_TOPICS))
    .catch([]),
  sentiment: z.object({ operator: Sentiment, client: Sentiment }).catch({ operator: null, client: null }),
});
export type RawReply = z.infer<typeof RawReply>;

/**
 * Reads what a model wrote: JSON, JSON in a Markdown fence or between other words, or the beginning of JSON. Null when there
 * is no object in it.
 */
export async function readReply(text: string): Promise<RawReply | null> {
  const start = text.indexOf('{');
  if (start < 0) return null;
  const end = text.lastIndexOf('}');
  const value = parsed(text.slice(start, end + 1)) ?? (await parsePartialJson(text.slice(start))).value;
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0)
    return null;
  const reply = RawReply.safeParse(value);
  return reply.success ? reply.data : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
