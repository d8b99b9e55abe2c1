import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, send } from '../../api/client.ts';
import { failed } from '../../widgets/toasts.tsx';
import { type Analysis, type CallDetail, callKey, type Question } from './use-call.ts';

/** One answer of a person: a label, or null where the question does not apply. */
interface Judgement {
  readonly question: Question;
  readonly answer: string | null;
  readonly comment?: string;
}

/** Saves a person's answers one by one. Each save sends all of them, because a review replaces the one before. */
export function useReview(call: CallDetail, analysis: Analysis) {
  const client = useQueryClient();
  const path = { uuid: call.uuid };
  const keep = (reviewed: Analysis) => {
    client.setQueryData<CallDetail>(callKey(call.uuid), (before) =>
      before === undefined
        ? before
        : {
            ...before,
            score: reviewed.score,
            analysis: reviewed,
            analyses: before.analyses.map((each) => (each.uuid === reviewed.uuid ? reviewed : each)),
          },
    );
    void client.invalidateQueries({ queryKey: ['calls'] });
    void client.invalidateQueries({ queryKey: ['review-queue'] });
  };
  const save = useMutation({
    mutationKey: ['review', call.uuid],
    // In their order: each contains those before.
    scope: { id: `review-${call.uuid}` },
    mutationFn: ({ judged, done }: { judged?: Judgement | undefined; done?: boolean | undefined }) => {
      const current = client.getQueryData<CallDetail>(callKey(call.uuid))?.analysis ?? analysis;
      const { review } = current;
      const answers = judgements(current, judged).map(({ question, answer, comment }) => ({
        question_uuid: question.uuid,
        answer,
        ...(comment !== undefined && comment !== '' && { comment }),
      }));
      const body = {
        analysis_uuid: current.uuid,
        answers,
        done: done ?? review?.done ?? false,
        ...(review?.comment !== null && review?.comment !== undefined && { comment: review.comment }),
      };
      return send(api.PUT('/api/v1/calls/{uuid}/review', { params: { path }, body }));
    },
    onSuccess: keep,
    onError: failed,
  });
  const withdraw = useMutation({
    mutationFn: () => send(api.DELETE('/api/v1/calls/{uuid}/review', { params: { path } })),
    onSuccess: keep,
    onError: failed,
  });
  return {
    isSaving: save.isPending || withdraw.isPending,
    answer: (question: Question, answer: string | null, comment?: string) =>
      save.mutate({ judged: { question, answer, ...(comment !== undefined && { comment }) } }),
    finish: () => save.mutateAsync({ done: true }),
    withdraw: () => withdraw.mutate(),
  };
}

/** People's answers so far, with one more. An answer equal to the machine's is left out. */
function judgements(analysis: Analysis, added: Judgement | undefined): readonly Judgement[] {
  const before = questionsOf(analysis)
    .filter(({ decided_by, uuid }) => decided_by === 'person' && uuid !== added?.question.uuid)
    .map((question): Judgement => ({ question, answer: question.answer, ...withComment(question.comment) }));
  if (added === undefined) return before;
  const comment = added.comment ?? added.question.comment ?? undefined;
  const { answer } = machineAnswer(added.question);
  const isMachines = added.answer === answer && (comment === undefined || comment === '');
  return isMachines && added.question.decided_by === 'person'
    ? before
    : [...before, { question: added.question, answer: added.answer, ...withComment(comment) }];
}

function withComment(comment: string | null | undefined): { comment?: string } {
  return comment === null || comment === undefined ? {} : { comment };
}

export function questionsOf(analysis: Analysis): readonly Question[] {
  return analysis.sections.flatMap(({ questions }) => questions);
}

/** The machine's answer, also where a person has answered since. */
export function machineAnswer({ machine, answer, decided_by, confidence }: Question) {
  return machine ?? { answer, decided_by, confidence };
}

/** Whether a question is open because no language model was asked. */
export function isLeftToModel(
  { analyst }: Analysis,
  { decided_by, answer, not_applicable, needs_review }: Question,
): boolean {
  const isOpen = answer === null && !not_applicable;
  return analyst.name === 'rules' && decided_by === 'model' && isOpen && needs_review;
}
