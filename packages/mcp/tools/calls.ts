import { CallFilter, CallSort } from '@call-analysis/api/call-query';
import { z } from 'zod';
import { type Schemas, Refusal } from '../calls-api.ts';
import { bytesOf, fit, MAX_BYTES, page, partsOf } from '../pages.ts';
import { cursor, tool, callUuid, UNTRUSTED } from './tool.ts';

const MOST = 50;

export const searchCalls = tool({
  name: 'search_calls',
  title: 'Search calls',
  description:
    "Finds the firm's calls that match all filters, with status, operator, time and score (0 to 100), but without the conversation: read that with get_call. To count or to compare use get_statistics. next_cursor is null on the last page. With q, matches says in which utterances the words occur.",
  input: z.strictObject({
    ...CallFilter.shape,
    sort: CallSort.optional(),
    limit: z.int().min(1).max(MOST).default(10),
    cursor,
  }),
  async run(api, { limit, ...query }) {
    for (let size = limit; ; size = Math.max(1, Math.floor(size / 2))) {
      // The API's own cursor continues after the last item, so fewer items are asked for until they fit.
      const page = await api.listCalls({ ...query, size });
      if (bytesOf(page) <= MAX_BYTES || size === 1) return JSON.stringify(fit(page, MAX_BYTES));
    }
  },
});

export const getCall = tool({
  name: 'get_call',
  title: 'Read a call',
  description: `Returns one call: who, when, its score, the summary of its analysis, and the conversation in the order in which it was said. For the rest of a long conversation use next_cursor. explain_score explains the score, answer by answer. ${UNTRUSTED}`,
  input: z.strictObject({ uuid: callUuid, cursor }),
  async run(api, input) {
    const { transcript, analysis, analyses, history, audio, ...call } = await api.getCall(input.uuid);
    const facts = {
      call,
      audio: audio === null ? null : withoutUrl(audio),
      language: transcript?.language ?? call.language,
      analysis: analysis === null ? null : analysisFacts(analysis),
      number_of_analyses: analyses.length,
      history: history.map(({ status, at }) => ({ status, at })),
    };
    const items = (transcript?.utterances ?? []).flatMap(utteranceParts);
    return page({ facts, factsAgain: { uuid: call.uuid }, name: 'utterances', items, cursor: input.cursor });
  },
});

/** Anyone who reads a signed URL could open the recording. */
function withoutUrl({ url: _url, url_expires_at: _expiry, ...audio }: Schemas['Recording']) {
  return audio;
}

function utteranceParts({ index, role, text, start, end, doubtful }: Schemas['Utterance']): object[] {
  const parts = partsOf(text);
  const times = start === null ? {} : { start, end };
  return parts.map((part, at) => ({
    index,
    role,
    ...times,
    ...(doubtful && { doubtful }),
    ...(parts.length > 1 && { part: at + 1, parts: parts.length }),
    untrusted_text: part,
  }));
}

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

type Analysis = Schemas['Analysis'];
type Question = Analysis['sections'][number]['questions'][number];

/** An analysis without its answers. Text about the conversation may quote it. */
function analysisFacts(analysis: Analysis) {
  const { uuid, scorecard, analyst, score, score_source, auto_failed, auto_fail_suspected, resolution } = analysis;
  const { questions, answered } = analysis;
  return {
    uuid,
    scorecard,
    analyst,
    score,
    questions,
    answered,
    score_source,
    auto_failed,
    auto_fail_suspected,
    sections: analysis.sections.map(({ name, score: points }) => ({ name, score: points })),
    resolution,
    sentiment: analysis.sentiment,
    manipulation: analysis.manipulation && {
      utterance: analysis.manipulation.utterance,
      untrusted_quote: analysis.manipulation.quote,
    },
    metrics: analysis.metrics,
    created_at: analysis.created_at,
    untrusted_summary: analysis.summary,
    untrusted_reason: analysis.reason,
    untrusted_topics: analysis.topics,
  };
}

/** An answer with the words that it rests on. */
function answerFacts(section: string, question: Question) {
  const { uuid, text, weight, answer, points, max_points, not_applicable, decided_by, confidence } = question;
  return {
    section,
    question_uuid: uuid,
    question: text,
    answer,
    weight,
    points,
    max_points,
    not_applicable,
    decided_by,
    confidence,
    needs_review: question.needs_review,
    machine: question.machine,
    evidence_absent: question.evidence_absent,
    evidence: question.evidence.map(({ quote, ...place }) => ({ ...place, untrusted_quote: quote })),
    untrusted_explanation: question.explanation,
    untrusted_comment: question.comment,
  };
}
