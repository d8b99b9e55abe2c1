import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Language, Role } from '@call-analysis/events';
import { z } from 'zod';

/**
 * A conversation with the right answers, as docs/evaluation.md describes a line of the file. Other fields are ignored.
 */
const LabelledConversation = z.object({
  id: z.string().min(1),
  language: Language,
  utterances: z
    .array(
      z.object({
        role: Role,
        text: z.string(),
        start: z.number().nullable().default(null),
        end: z.number().nullable().default(null),
      }),
    )
    .min(1),
  /** By the name or the uuid of a question. Null: the question does not apply. */
  answers: z.record(z.string(), z.string().nullable()),
  operator_name: z.string().nullable().default(null),
  company: z.string().nullable().default(null),
  segment: z.string().default('support'),
  duration: z.number().min(0).nullable().default(null),
  /** Two conversations with the same pair are alike but for how well they were handled. */
  pair: z.string().nullable().default(null),
  handled: z.enum(['well', 'badly']).nullable().default(null),
});
export type LabelledConversation = z.infer<typeof LabelledConversation>;

/** A fault of the input or the arguments, for the person who runs the command. */
export class EvaluationFault extends Error {}

const MOST_FAULTS = 20;

/** Reads JSON Lines. EvaluationFault: names the first lines at fault, with what is wrong. */
export async function readLabelledConversations(files: readonly string[]): Promise<LabelledConversation[]> {
  const conversations: LabelledConversation[] = [];
  const faults: string[] = [];
  for (const file of files) {
    let number = 0;
    for await (const line of createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity })) {
      number += 1;
      const text = line.replace(/^\ufeff/u, '').trim();
      if (text === '') continue;
      const read = readLine(text);
      if (typeof read === 'string') faults.push(`${file}, line ${number}: ${read}`);
      else conversations.push(read);
    }
  }
  if (faults.length > 0) {
    const more = faults.length > MOST_FAULTS ? [`and ${faults.length - MOST_FAULTS} more`] : [];
    throw new EvaluationFault([...faults.slice(0, MOST_FAULTS), ...more].join('\n'));
  }
  return conversations;
}

function readLine(text: string): LabelledConversation | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'this is not JSON; each line is one JSON object';
  }
  const parsed = LabelledConversation.safeParse(value);
  if (parsed.success) return parsed.data;
  return parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the line'}: ${message}`).join('; ');
}
