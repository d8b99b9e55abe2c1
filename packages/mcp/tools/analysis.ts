import type { Schemas } from '../calls-api.ts';

type Analysis = Schemas['Analysis'];
type Question = Analysis['sections'][number]['questions'][number];

/** An analysis without its answers. Text about the conversation may quote it. */
export function analysisFacts(analysis: Analysis) {
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
export function answerFacts(section: string, question: Question) {
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
