import { z } from 'zod';
import { type Schemas, Refusal } from '../calls-api.ts';
import { page } from '../pages.ts';
import { analysisFacts, answerFacts } from './analysis.ts';
import { callUuid, cursor, tool, UNTRUSTED } from './tool.ts';

export const explainScore = tool({
  name: 'explain_score',
  title: 'Explain a score',
  description: `Says why a call has its score: each question of the scorecard with its answer, the points, who decided (rule, fallback, model, person), how sure that is, and the quotes that the answer rests on. The score is the sum of weight × points / max_points over the answered questions, as a percentage. An answer with needs_review true is not certain. A question whose answer is null without being not_applicable is open: nothing has answered it. ${UNTRUSTED}`,
  input: z.strictObject({ uuid: callUuid, cursor }),
  async run(api, input) {
    const call = await api.getCall(input.uuid);
    const { analysis } = call;
    if (analysis === null) throw noAnalysis(call);
    const { review } = analysis;
    const facts = {
      call_uuid: call.uuid,
      status: call.status,
      outcome: call.outcome,
      operator_name: call.operator_name,
      ...analysisFacts(analysis),
      review:
        review === null ? null : { by: review.by, at: review.at, done: review.done, untrusted_comment: review.comment },
    };
    const items = analysis.sections.flatMap(({ name, questions }) => questions.map((each) => answerFacts(name, each)));
    return page({ facts, factsAgain: { call_uuid: call.uuid }, name: 'answers', items, cursor: input.cursor });
  },
});

function noAnalysis({ status, failure }: Schemas['CallDetail']): Refusal {
  const next =
    failure === null
      ? 'Ask again when its status is completed.'
      : `It failed in ${failure.stage} with ${failure.code}${failure.retryable ? '; it can be retried in the console or by the API' : ''}.`;
  return new Refusal('NO_ANALYSIS', `The call is ${status} and has no analysis. ${next}`);
}
