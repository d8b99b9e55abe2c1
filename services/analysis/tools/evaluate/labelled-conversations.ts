import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Language, Role } from '@call-analysis/events';
import { z } from 'zod';
import { draftSchema, type Scorecard, toScorecardBody } from '../../scorecards/scorecard.ts';

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

const Labels = z.record(z.string(), z.string());

/** How the questions of labelled files correspond to those of a scorecard. docs/evaluation.md describes it. */
export const QuestionMap = z.record(
  z.string(),
  z.strictObject({
    /** The uuid of the question in the scorecard. */
    question: z.guid(),
    /**
     * The answers in the files by the scorecard's labels. A label that is not listed has the same name in the files.
     */
    labels: Labels.default({}),
    /** Answers in the files that count as another one, because the scorecard does not distinguish them. */
    counts_as: Labels.default({}),
  }),
);
export type QuestionMap = z.infer<typeof QuestionMap>;

/** The questions of the conversations in evaluation/ and those of the default scorecard. */
export const WRITERS_QUESTIONS = new URL('../../evaluation/questions.json', import.meta.url);

export async function readQuestionMap(file: URL | string): Promise<QuestionMap> {
  const parsed = QuestionMap.safeParse(JSON.parse(await readFile(file, 'utf8')));
  if (parsed.success) return parsed.data;
  throw new EvaluationFault(`${String(file)}: ${z.prettifyError(parsed.error)}`);
}

/** Answers that are labelled by the uuid of the question and by the labels of the scorecard. */
export function questionsOfScorecard({ sections }: Scorecard): QuestionMap {
  const questions = sections.flatMap((section) => section.questions);
  return Object.fromEntries(questions.map(({ uuid }) => [uuid, { question: uuid, labels: {}, counts_as: {} }]));
}

/** A scorecard as the API shows it, or the document that made it. `source` says in a fault where it comes from. */
export function parseScorecard(document: unknown, source: string): Scorecard {
  const parsed = z.object({ name: z.unknown(), sections: z.unknown() }).safeParse(document);
  const draft = draftSchema.safeParse(parsed.data);
  if (!draft.success) throw new EvaluationFault(`${source} is not a scorecard: ${z.prettifyError(draft.error)}`);
  const questions = draft.data.sections.flatMap((section) => section.questions);
  if (questions.some(({ uuid }) => uuid === undefined)) {
    throw new EvaluationFault(`${source}: every question needs its uuid.`);
  }
  return { ...toScorecardBody(draft.data, () => ''), uuid: NO_UUID, revision: 1 };
}

const NO_UUID = '00000000-0000-4000-8000-000000000000';
