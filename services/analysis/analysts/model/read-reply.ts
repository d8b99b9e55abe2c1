import { Resolution } from '@call-analysis/events';
import { parsePartialJson } from 'ai';
import { z } from 'zod';
import { TOPICS, type Topic } from '../rules/topics.ts';

const MAX_TOPICS = 5;

const Quote = z
  .object({ utterance: z.coerce.number().int().catch(-1), quote: z.string() })
  .nullable()
  .catch(null);

const RawAnswer = z.object({
  question_uuid: z.string(),
  answer: z.string().nullable(),
  confidence: z.coerce.number().min(0).max(1).nullable().catch(null),
  quotes: z.array(Quote).catch([]),
  explanation: z.string().catch(''),
});
export type RawAnswer = z.infer<typeof RawAnswer>;

const Feeling = z.number().min(-1).max(1).nullable().catch(null);
const UNKNOWN = { operator: null, client: null };
const Feelings = z.object({ operator: Feeling, client: Feeling });

function isTopic(topic: unknown): topic is Topic {
  return TOPICS.some((each) => each === topic);
}

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
    .transform((topics) => [...new Set(topics)].filter(isTopic).slice(0, MAX_TOPICS))
    .catch([]),
  sentiment: Feelings.extend({ start: Feelings.catch(UNKNOWN), end: Feelings.catch(UNKNOWN) }).catch({
    ...UNKNOWN,
    start: UNKNOWN,
    end: UNKNOWN,
  }),
  manipulation: Quote,
});
export type RawReply = z.infer<typeof RawReply>;

/** After more objects than this that do not end, no further ones are looked for: each is read to the end of the text. */
const MOST_UNENDED = 100;
const BEGUN = /\{\s*"(?:answers|summary|reason|resolution|topics|sentiment|manipulation)"\s*:/u;
/** Where a model's thinking ends: a closing tag, a channel that ends, or the beginning of the final one. */
const THOUGHT_ENDS =
  /<\/\s*(?:[a-z]+:)?(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis)\s*>|\[\/THINK\]|◁\/think▷|<\|channel\|>\s*final\b.{0,40}?<\|message\|>|<channel\|>/gisu;
/** Where it begins, without having ended: nothing after it is an answer. */
const THOUGHT_BEGINS =
  /<\s*(?:[a-z]+:)?(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis)\s*>|\[THINK\]|◁think▷|<\|channel\|>\s*(?:analysis|commentary)\b/gisu;

/**
 * Reads what a model wrote: JSON, alone or after its thinking, in a Markdown fence or between other words. The last complete
 * object of the right shape counts, after the thinking; drafts come before it. When the text breaks off in an object of that
 * shape, what is complete in it counts, and no draft. Null when there is no answer in it.
 */
export async function readReply(text: string): Promise<RawReply | null> {
  const replies = completeReplies(text);
  const isOutside = (at: number) => !replies.some(({ from, to }) => at > from && at < to);
  const ends = [...text.matchAll(THOUGHT_ENDS)].filter(({ index }) => isOutside(index));
  const last = ends.at(-1);
  const from = last === undefined ? 0 : last.index + last[0].length;
  const begins = [...text.matchAll(THOUGHT_BEGINS)].find(({ index }) => index >= from && isOutside(index));
  const to = begins?.index ?? text.length;
  const whole = replies.findLast((reply) => reply.from >= from && reply.to <= to);
  const rest = text.slice(whole?.to ?? from, to);
  const begun = BEGUN.exec(rest);
  const broken = begun !== null && endOfObject(rest, begun.index) === null ? begun : null;
  const start = broken?.index ?? (whole === undefined ? rest.indexOf('{') : -1);
  const value = start < 0 ? whole?.value : (await parsePartialJson(withoutOpenText(rest.slice(start)))).value;
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0)
    return null;
  const reply = RawReply.safeParse(value);
  return reply.success ? reply.data : null;
}

/** The complete objects with answers, in order; none within another. */
function completeReplies(text: string) {
  const found: { from: number; to: number; value: object }[] = [];
  let unended = 0;
  for (const { index: from } of text.matchAll(/\{\s*"/gu)) {
    if (from < (found.at(-1)?.to ?? 0)) continue;
    const to = endOfObject(text, from);
    if (to === null) {
      unended += 1;
      if (unended > MOST_UNENDED) break;
      continue;
    }
    const value = parsed(text.slice(from, to));
    if (typeof value === 'object' && value !== null && 'answers' in value && Array.isArray(value.answers))
      found.push({ from, to, value });
  }
  return found;
}

/** The position after the object that begins at `from`; null when it does not end. */
function endOfObject(text: string, from: number): number | null {
  let depth = 0;
  for (const { 0: token, index } of tokensFrom(text, from)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth === 0) return index + 1;
  }
  return null;
}

/** Brackets, and texts with their quotes, of which the last may have no end. */
function tokensFrom(text: string, from: number) {
  return text
    .slice(from)
    .matchAll(/[{}[\]]|"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)/gsu)
    .map((match) => ({ 0: match[0], index: from + match.index }));
}

/** Broken-off JSON up to a text that does not end: half a text is never taken for a whole one. */
function withoutOpenText(json: string): string {
  let end = json.length;
  for (const { 0: token, index } of tokensFrom(json, 0))
    if (token.startsWith('"') && !/^"[^"\\]*(?:\\.[^"\\]*)*"$/su.test(token)) end = index;
  return json.slice(0, end);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
