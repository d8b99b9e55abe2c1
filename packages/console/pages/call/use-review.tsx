import { ApiError } from '@call-analysis/client/errors';
import { useMutation, useMutationState, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import { saving } from '../../api/connection.ts';
import { discardDraft, draftOf, keepDraft } from '../../drafts/drafts.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { useSession } from '../../session/session.ts';
import { failed } from '../../widgets/actions.tsx';
import { confirmed } from '../../widgets/dialog.tsx';
import { Facts } from '../../widgets/page.tsx';
import { usePersonName } from '../../widgets/people.ts';
import { callTexts } from '../texts.ts';
import { type Analysis, type CallDetail, callKey, type Question } from './use-call.ts';

/** One answer of a person: a label, or null where the question does not apply. */
interface Judgement {
  readonly questionUuid: string;
  readonly answer: string | null;
  readonly comment: string | null;
}

/** What is saved at once. `basedOn`: the revision of the review that the person saw; null without one. */
interface Change {
  readonly analysisUuid: string;
  readonly basedOn: number | null;
  readonly judged?: Judgement;
  readonly done?: boolean;
}

/** Two people answered the same question. */
interface Conflict {
  readonly mine: Judgement;
  readonly theirs: Schemas['GivenAnswer'];
  /** The revision of the review that has their answer. */
  readonly revision: number;
}

export type Review = ReturnType<typeof useReview>;

/**
 * A person's answers, saved one by one: each changes its question alone, so that what others answer meanwhile stays. They are
 * shown at once, before they are saved.
 */
export function useReview(call: CallDetail, analysis: Analysis) {
  const client = useQueryClient();
  const { userUuid } = useSession();
  const nameOf = usePersonName();
  /** The conflicts before: the person is asked about one after another. */
  const settled = useRef(Promise.resolve());
  const answered = useRef<Promise<boolean>>(Promise.resolve(true));
  const path = { uuid: call.uuid };
  const mutationKey = ['review', call.uuid];
  const keep = (reviewed: Analysis) => {
    // A call that was fetched before would take the answer away until the next one.
    void client.cancelQueries({ queryKey: callKey(call.uuid) });
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
    void client.invalidateQueries({ queryKey: ['inbox'] });
  };
  /** The call as others have left it. */
  const refresh = () => client.invalidateQueries({ queryKey: callKey(call.uuid) });
  const save = useMutation({
    ...saving,
    mutationKey,
    // In their order: the later one of two answers to a question counts.
    scope: { id: `review-${call.uuid}` },
    mutationFn: ({ analysisUuid, basedOn, judged, done }: Change) => {
      const answers = judged === undefined ? [] : [answerOf(judged)];
      const body = { analysis_uuid: analysisUuid, answers, ...(done !== undefined && { done }) };
      const params = { path, ...(basedOn !== null && { header: { 'If-Match': `"${basedOn}"` } }) };
      return send(api.PATCH('/api/v1/calls/{uuid}/review', { params, body }));
    },
    onSuccess: keep,
    onError: (error, { judged }) => {
      const conflict = conflictOf(error, judged);
      if (conflict === null || conflict.theirs.by === userUuid) failed(error);
      else if (!isAgreed(conflict)) settle(conflict);
      void refresh();
    },
  });
  const withdraw = useMutation({
    mutationFn: (basedOn: number) =>
      send(api.DELETE('/api/v1/calls/{uuid}/review', { params: { path, header: { 'If-Match': `"${basedOn}"` } } })),
    onSuccess: keep,
    onError: (error) => {
      failed(error);
      void refresh();
    },
  });
  const unsaved = useMutationState({
    filters: { mutationKey, status: 'pending' },
    select: ({ state }) => ({ ...(state.variables as Change), isWaiting: state.isPaused || state.failureCount > 0 }),
  }).filter(({ analysisUuid }) => analysisUuid === analysis.uuid);
  const basedOn = analysis.review?.revision ?? null;
  const draftKey = `answers ${call.uuid}`;
  const kept = () => (draftOf(draftKey) ?? []) as readonly Change[];
  const submit = (change: Change) => {
    keepDraft(draftKey, [...kept(), change], { isOpen: false });
    const saved = save.mutateAsync(change).then(
      () => true,
      (error: unknown) => isAgreed(conflictOf(error, change.judged)),
    );
    void saved.then(() => {
      const others = kept().slice(1);
      if (others.length === 0) discardDraft(draftKey);
      else keepDraft(draftKey, others, { isOpen: false });
    });
    answered.current = Promise.all([answered.current, saved]).then((all) => !all.includes(false));
  };
  const judge = (judged: Judgement, seen = basedOn) => submit({ analysisUuid: analysis.uuid, basedOn: seen, judged });
  /** Asks whose answer counts, after the conflicts before, and sends one's own again if it does. */
  const settle = (conflict: Conflict) => {
    const { mine, theirs, revision } = conflict;
    const question = questionsOf(analysis).find(({ uuid }) => uuid === mine.questionUuid);
    settled.current = settled.current.then(async () => {
      if (await isMineKept(conflict, question?.text ?? '', call, nameOf(theirs.by))) judge(mine, revision);
    });
  };
  // Answers that a reload has kept from being saved are saved now.
  useEffect(() => {
    const left = kept();
    if (left.length === 0 || client.isMutating({ mutationKey }) > 0) return;
    discardDraft(draftKey);
    for (const change of left) submit(change);
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [draftKey]);
  return {
    isSaving: save.isPending || withdraw.isPending,
    /** The analysis with the answers that are being saved. */
    shown: withAnswers(
      analysis,
      unsaved.flatMap(({ judged }) => judged ?? []),
    ),
    pending: new Set(unsaved.flatMap(({ judged }) => judged?.questionUuid ?? [])),
    /** The questions whose answers wait for the service. */
    waiting: new Set(unsaved.flatMap(({ judged, isWaiting }) => (isWaiting ? (judged?.questionUuid ?? []) : []))),
    answer: (question: Question, answer: string | null, comment = question.comment) =>
      judge({ questionUuid: question.uuid, answer, comment: comment === '' ? null : comment }),
    /** Rejects when an answer before it was not saved. */
    finish: async () => {
      const areSaved = await answered.current;
      answered.current = Promise.resolve(true);
      if (!areSaved) throw new Error('An answer was not saved.');
      return save.mutateAsync({ analysisUuid: analysis.uuid, basedOn, done: true });
    },
    withdraw: () => basedOn !== null && withdraw.mutate(basedOn),
  };
}

function answerOf({ questionUuid, answer, comment }: Judgement) {
  return { question_uuid: questionUuid, answer, ...(comment !== null && { comment }) };
}

/** What another person answered meanwhile, as the service says it; null for any other error. */
function conflictOf(error: unknown, mine: Judgement | undefined): Conflict | null {
  if (mine === undefined || !(error instanceof ApiError)) return null;
  if (!['REVIEW_CHANGED', 'IF_MATCH_REQUIRED'].includes(error.code)) return null;
  const { revision, answers } = error.details as { revision: number; answers: readonly Schemas['GivenAnswer'][] };
  const theirs = answers.find(({ question_uuid }) => question_uuid === mine.questionUuid);
  return theirs === undefined ? null : { mine, theirs, revision };
}

/** Where both say the same there is nothing to ask. */
function isAgreed(conflict: Conflict | null): boolean {
  if (conflict === null) return false;
  const { mine, theirs } = conflict;
  return theirs.answer === mine.answer && (mine.comment === null || mine.comment === theirs.comment);
}

/** Asks which answer counts where two people answered the same question. */
function isMineKept({ mine, theirs }: Conflict, question: string, call: CallDetail, name: string): Promise<boolean> {
  const t = callTexts.translate;
  const said = ({ answer, comment }: { answer: string | null; comment: string | null }) => (
    <>
      <strong>{answer ?? t('notApplicable')}</strong>
      {comment !== null && <p>{comment}</p>}
    </>
  );
  const of = [
    [`${name} · ${format.dateTime(theirs.at)}`, said(theirs)],
    [shellTexts.translate('you'), said(mine)],
  ] as const;
  return confirmed({
    title: t('conflict.title'),
    text: question,
    details: (
      <>
        <p className="muted foreign">
          {call.operator_name}, {format.shortDateTime(call.start_time)}
        </p>
        <Facts of={of} />
      </>
    ),
    action: t('conflict.mine'),
    stay: t('conflict.theirs'),
    isSafe: true,
    isDue: true,
  });
}

/** Asks before a review is finished while questions have no answer of a person, and names them. */
export function mayFinish(unanswered: readonly Question[]): Promise<boolean> {
  const t = callTexts.translate;
  return confirmed({
    title: t('unanswered.title'),
    text: t('unanswered.text'),
    action: t('unanswered.finish'),
    isSafe: true,
    details: (
      <ul className="unanswered foreign">
        {unanswered.map(({ uuid, text }) => (
          <li key={uuid}>{text}</li>
        ))}
      </ul>
    ),
  });
}

/** The analysis as the person sees it who gave these answers. Points and score follow when they are saved. */
function withAnswers(analysis: Analysis, answers: readonly Judgement[]): Analysis {
  if (answers.length === 0) return analysis;
  const given = new Map(answers.map((each) => [each.questionUuid, each]));
  const sections = analysis.sections.map((section) => ({
    ...section,
    questions: section.questions.map((question): Question => {
      const judged = given.get(question.uuid);
      if (judged === undefined) return question;
      const { answer, comment } = judged;
      return {
        ...question,
        answer,
        comment,
        not_applicable: answer === null,
        points: answer === question.answer ? question.points : null,
        decided_by: 'person',
        machine: machineAnswer(question),
        needs_review: false,
      };
    }),
  }));
  return { ...analysis, sections };
}

export function questionsOf(analysis: Analysis): readonly Question[] {
  return analysis.sections.flatMap(({ questions }) => questions);
}

export function isOpen({ answer, not_applicable }: Question): boolean {
  return answer === null && !not_applicable;
}

/** The questions that a person is asked to look at. */
export function inQuestion(analysis: Analysis): readonly Question[] {
  return questionsOf(analysis).filter((each) => each.needs_review || (isOpen(each) && !isLeftToModel(analysis, each)));
}

/** The machine's answer, also where a person has answered since. */
export function machineAnswer({ machine, answer, decided_by, confidence }: Question) {
  return machine ?? { answer, decided_by, confidence };
}

/** Whether a question is open because no language model was asked. */
export function isLeftToModel({ analyst }: Analysis, question: Question): boolean {
  return analyst.name === 'rules' && question.decided_by === 'model' && isOpen(question);
}
