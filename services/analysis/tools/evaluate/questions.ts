import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { draftSchema, type Scorecard, toScorecardBody } from '../../scorecards/scorecard.ts';
import { EvaluationFault } from './labelled-conversations.ts';

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
