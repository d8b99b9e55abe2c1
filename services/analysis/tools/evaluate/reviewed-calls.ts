import { Language, Role } from '@call-analysis/events';
import { z } from 'zod';
import type { Scorecard } from '../../scorecards/scorecard.ts';
import { EvaluationFault, type LabelledConversation, parseScorecard } from './labelled-conversations.ts';

const PAGE = 100;

const Page = z.object({ items: z.array(z.object({ uuid: z.guid() })), next_cursor: z.string().nullable() });

/** The fields of a call from the API that are used here. */
const Call = z.object({
  uuid: z.guid(),
  language: Language.nullable(),
  operator_name: z.string().nullable(),
  segment_type: z.string(),
  duration: z.number().nullable(),
  transcript: z
    .object({
      utterances: z.array(
        z.object({ role: Role, text: z.string(), start: z.number().nullable(), end: z.number().nullable() }),
      ),
    })
    .nullable(),
  analysis: z
    .object({
      scorecard: z.object({ uuid: z.guid(), revision: z.int() }),
      review: z.object({ done: z.boolean() }).nullable(),
      sections: z.array(
        z.object({
          questions: z.array(
            z.object({
              uuid: z.guid(),
              answer: z.string().nullable(),
              not_applicable: z.boolean(),
              decided_by: z.string(),
            }),
          ),
        }),
      ),
    })
    .nullable(),
});
type Call = z.infer<typeof Call>;

/** Reviewed calls under one revision of a scorecard. */
export interface ReviewedCalls {
  readonly scorecard: Scorecard;
  readonly conversations: readonly LabelledConversation[];
}

/** Gets a path of the API with its query as JSON. */
type Get = (path: string) => Promise<unknown>;

/**
 * The reviewed calls of a running service. A person's answer counts as right; so do the machine's answers that a
 * finished review does not change. Calls in an unknown language are left out.
 */
export async function fetchReviewedCalls(get: Get): Promise<ReviewedCalls[]> {
  const byRevision = new Map<string, { scorecard: Scorecard; conversations: LabelledConversation[] }>();
  let cursor: string | null = null;
  do {
    const page: z.infer<typeof Page> = Page.parse(
      await get(
        `/api/v1/calls?reviewed=true&size=${PAGE}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      ),
    );
    for (const { uuid } of page.items) {
      const call = Call.parse(await get(`/api/v1/calls/${uuid}`));
      const conversation = labelledBy(call);
      if (conversation === null || call.analysis === null) continue;
      const { uuid: scorecardUuid, revision } = call.analysis.scorecard;
      const path = `/api/v1/scorecards/${scorecardUuid}?revision=${revision}`;
      let reviewed = byRevision.get(path);
      if (reviewed === undefined) {
        reviewed = { scorecard: parseScorecard(await get(path), path), conversations: [] };
        byRevision.set(path, reviewed);
      }
      reviewed.conversations.push(conversation);
    }
    cursor = page.next_cursor;
  } while (cursor !== null);
  return [...byRevision.values()];
}

function labelledBy({ uuid, language, transcript, analysis, ...call }: Call): LabelledConversation | null {
  const review = analysis?.review ?? null;
  if (analysis === null || review === null || transcript === null || language === null) return null;
  const answers = analysis.sections
    .flatMap(({ questions }) => questions)
    .filter(({ decided_by, answer, not_applicable }) =>
      // An open question has no answer that a person could agree with.
      decided_by === 'person' ? true : review.done && (answer !== null || not_applicable),
    );
  return {
    id: uuid,
    language,
    utterances: transcript.utterances,
    answers: Object.fromEntries(answers.map((each) => [each.uuid, each.answer])),
    operator_name: call.operator_name,
    company: null,
    segment: call.segment_type,
    duration: call.duration,
    pair: null,
    handled: null,
  };
}

/** Asks a service with a bearer token. EvaluationFault: the service refuses, or cannot be reached. */
export function askService(url: string, token: string): Get {
  return async (path) => {
    const response = await fetch(new URL(path, url), { headers: { authorization: `Bearer ${token}` } }).catch(() => {
      throw new EvaluationFault(`${url} cannot be reached. Check the URL, and that the service runs.`);
    });
    const body: unknown = await response.json().catch(() => null);
    if (response.ok) return body;
    const message = z.object({ message: z.string() }).safeParse(body);
    throw new EvaluationFault(`${url} answers ${response.status}: ${message.data?.message ?? 'no message'}`);
  };
}
