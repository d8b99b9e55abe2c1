import { z } from 'zod';
import { draftSchema, type Scorecard, toScorecardBody } from '../../scorecards/scorecard.ts';
import { EvaluationFault } from './labelled-conversations.ts';

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
