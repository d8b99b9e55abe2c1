import { exampleDraft, ScorecardTrial } from '@call-analysis/api/scorecards';
import { type Analysis, ScorecardDraft, transcriptJson, Uuid } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { z } from 'zod';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { currentOf, type StoredCall } from './calls/call-json.ts';
import { callerOf, type PassedInput, readAnswer, requestOf, type Services } from './rpc-caller.ts';

const MOST_CALLS = 10;
/** A language model may take a minute for a call. */
const TRY_MS = 120_000;
/** Faults of a call alone. Any other ends the request. */
const OF_A_CALL = ['NOT_FOUND', 'NO_TRANSCRIPT', 'ANALYST_UNAVAILABLE', 'ANALYST_REFUSED', 'UNAVAILABLE'];

const Trial = z
  .strictObject({
    call_uuids: z.array(Uuid).min(1).max(MOST_CALLS),
    // Checked before the calls are looked up, so that a wrong draft is always refused.
    draft: ScorecardDraft.optional().meta({
      documentedAs: {
        $ref: '#/components/schemas/ScorecardDraft',
        description: 'The changed scorecard. Without it, its newest revision.',
      },
    }),
  })
  .meta({
    id: 'TryScorecardRequest',
    examples: [{ call_uuids: ['019a4f3e-7c1a-7d20-9b1e-5f2a61c0d301'], draft: exampleDraft }],
  });

/** Trials of a scorecard before it is put in force (docs/api.md, "Scorecards"). */
export function scorecardTrials({ analysis, ingest }: Services): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/api/v1/scorecards/:uuid/try',
      roles: ['ADMIN'],
      body: Trial,
      tag: 'Scorecards',
      id: 'tryScorecard',
      summary: 'Try a scorecard on calls',
      description:
        'Analyzes up to ten calls by the scorecard as it would be, and stores nothing: the scores of the calls stay. A language model is asked as for any analysis, and what it costs counts as usage; when the budget is spent, rules and fallbacks answer.',
      responses: { 200: { description: 'The current and the tried result of each call.', schema: ScorecardTrial } },
      async handle(input) {
        const { caller, params, body } = input;
        // An unknown scorecard is NOT_FOUND for the request, not for each call.
        await analysis.getScorecard({ caller: callerOf(caller), scorecard_uuid: params.uuid });
        const items = await Promise.all([...new Set(body.call_uuids)].map((call_uuid) => tryCall(input, call_uuid)));
        return { status: 200, body: { items } };
      },
    }),
  ];

  async function tryCall(input: PassedInput & { readonly body: z.output<typeof Trial> }, call_uuid: string) {
    let call: StoredCall | null = null;
    try {
      const reply = await ingest.getCall({ caller: callerOf(input.caller), call_uuid });
      if (reply.is_large === true)
        throw new Fault(
          'conflict',
          'NO_TRANSCRIPT',
          'The transcript and the analyses of this call are too long for a trial.',
        );
      call = readAnswer<StoredCall>(reply);
      if (call.transcript === null)
        throw new Fault('conflict', 'NO_TRANSCRIPT', 'This call has no transcript, so it cannot be scored.');
      const { segment_type, operator_name, duration, language, transcript } = call;
      const { utterances } = JSON.parse(transcriptJson(transcript)) as { utterances: unknown[] };
      const tried = { call_uuid, segment_type, operator_name, duration, language, utterances };
      const asked = requestOf({ ...input, body: { draft: input.body.draft, call: tried } });
      const after = readAnswer<Analysis>(await analysis.tryScorecard(asked, { deadlineMs: TRY_MS }));
      return { ...itemOf(call_uuid, call), after: resultOf(after), failure: null };
    } catch (error) {
      if (!(error instanceof Fault) || !OF_A_CALL.includes(error.code)) throw error;
      const failure = { code: error.code, message: error.message };
      return { ...itemOf(call_uuid, call), after: null, failure };
    }
  }
}

function itemOf(call_uuid: string, call: StoredCall | null) {
  const current = call && currentOf(call, call.analyses);
  return {
    call_uuid,
    operator_name: call?.operator_name ?? null,
    start_time: call?.start_time ?? null,
    before: current && resultOf(current),
  };
}

function resultOf({ scorecard, score, auto_failed, sections }: Analysis) {
  return {
    scorecard,
    score,
    auto_failed,
    answers: sections.flatMap(({ questions }) =>
      questions.map(({ uuid: question_uuid, text, answer, not_applicable, points, max_points, needs_review }) => ({
        question_uuid,
        text,
        answer,
        not_applicable,
        points,
        max_points,
        needs_review,
      })),
    ),
  };
}
