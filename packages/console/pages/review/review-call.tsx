import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import * as format from '../../i18n/format.ts';
import { Score } from '../../widgets/call-facts.tsx';
import { Button } from '../../widgets/controls.tsx';
import { useKeyList, useKeys } from '../../widgets/use-events.ts';
import { ONE_COLUMN, useMedia } from '../../widgets/use-media.ts';
import { useCallDesk } from '../call/desk/call-desk.tsx';
import { Listening, useListening } from '../call/listening.tsx';
import { Evidence, Choices, keysOf } from '../call/question-card.tsx';
import type { Analysis, CallDetail, Question } from '../call/use-call.ts';
import { inQuestion, isOpen, machineAnswer, mayFinish, questionsOf, useReview } from '../call/use-review.tsx';
import { callTexts, reviewTexts } from '../texts.ts';

interface Props {
  readonly call: CallDetail;
  readonly analysis: Analysis;
  readonly onNext: () => void;
}

/** One call of the queue. It is finished when each of its answers in question was confirmed or corrected, or by its button. */
export function ReviewCall({ call, analysis, onNext }: Props) {
  const t = reviewTexts.use();
  const c = callTexts.use();
  const listening = useListening(call);
  const review = useReview(call, analysis);
  const questions = questionsOf(analysis);
  const { data: desk } = useCallDesk(call.uuid);
  // When the call came up. A correction takes an answer off the list of the analysis.
  const [toJudge] = useState(() => inQuestion(analysis).map(({ uuid }) => uuid));
  // A call that was assigned, disputed or chosen by chance may have none: a person looks at all its answers.
  const asked = toJudge.length > 0 ? toJudge : questions.map(({ uuid }) => uuid);
  const [judged, setJudged] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState(0);
  const question = questions.find(({ uuid }) => uuid === asked[at]) ?? null;
  // Where the columns are below each other, scrolling to the quote would take the question out of sight.
  const isNarrow = useMedia(ONE_COLUMN);
  useEffect(() => {
    if (!isNarrow) listening.quote(question, 0, false);
    // Once for a question.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [question?.uuid, isNarrow]);

  const labels = question === null ? [] : (question.choices ?? []);
  const finish = async () => {
    try {
      await review.finish();
      onNext();
    } catch {
      // The message says why. The answer stays where it is.
    }
  };
  const finishUnlessUnanswered = async (answered: ReadonlySet<string>) => {
    const left = questions.filter(({ uuid }) => toJudge.includes(uuid) && !answered.has(uuid));
    if (left.length === 0 || (await mayFinish(left))) await finish();
    else setAt(asked.indexOf(left[0]!.uuid));
  };
  const proceed = (answered: string) => {
    const all = new Set([...judged, answered]);
    setJudged(all);
    if (at + 1 < asked.length) setAt(at + 1);
    else void finishUnlessUnanswered(all);
  };
  const confirm = () => {
    if (question !== null && !isOpen(question) && !review.isSaving) proceed(question.uuid);
  };
  const correct = (answer: string | null) => {
    if (question === null || review.isSaving) return;
    review.answer(question, answer);
    proceed(question.uuid);
  };
  const finishNow = () => {
    if (!review.isSaving) void finishUnlessUnanswered(judged);
  };
  const hear = (index: number) => listening.quote(question, index, true);
  useKeys({
    Enter: confirm,
    q: () => hear(0),
    n: onNext,
    f: finishNow,
    j: () => setAt(Math.min(asked.length - 1, at + 1)),
    k: () => setAt(Math.max(0, at - 1)),
    ...keysOf(labels, correct),
  });

  useKeyList([
    ['Enter', t('confirm')],
    ['1 – 9', c('key.numbers')],
    ['0', c('notApplicable')],
    ['q', c('key.enter')],
    ['j k', c('key.jk')],
    ['f', t('finish')],
    ['n', t('skip')],
    ['Space', c('key.space')],
    ['← →', c('key.arrows')],
  ]);
  return (
    <div className="call-columns review-columns">
      <div className="call-main">
        <Listening {...{ call, listening, question }} />
      </div>
      <section className="score-panel" aria-label={t('question')}>
        <div className="card card-body review-call">
          <div className="row">
            <Link to="/calls/$uuid" params={{ uuid: call.uuid }} className="foreign">
              {call.operator_name}
            </Link>
            <span className="muted number">{format.dateTime(call.start_time)}</span>
            <Score value={analysis.score} />
            {desk?.disputes.some(({ status }) => status === 'open') === true && (
              <span className="badge badge-warn">{c('dispute.badge')}</span>
            )}
          </div>
          {question !== null && (
            <>
              {asked.length > 1 && (
                <p className="muted number">{t('answerOf', { at: String(at + 1), all: String(asked.length) })}</p>
              )}
              <MachineAnswer question={question} />
              <Evidence question={question} onQuote={hear} />
              <Button
                icon="check"
                kind="primary"
                className="review-confirm"
                disabled={isOpen(question) || review.isSaving}
                onClick={confirm}
              >
                {t('confirm')}
                <kbd aria-hidden="true">Enter</kbd>
              </Button>
              {labels.length > 0 && <Choices choices={labels} isDisabled={review.isSaving} onChoose={correct} />}
            </>
          )}
          <div className="row">
            <Button disabled={review.isSaving} onClick={finishNow}>
              <kbd aria-hidden="true">f</kbd>
              {t('finish')}
            </Button>
            <Button kind="quiet" onClick={onNext}>
              <kbd aria-hidden="true">n</kbd>
              {t('skip')}
            </Button>
          </div>
        </div>
      </section>
    </div>
  );
}

function MachineAnswer({ question }: { question: Question }) {
  const t = reviewTexts.use();
  const c = callTexts.use();
  const { confidence, decided_by } = machineAnswer(question);
  return (
    <>
      <h2 className="foreign review-question">{question.text}</h2>
      <p className="review-answer" aria-live="polite">
        <span className="muted">{t('machineSays')}</span>{' '}
        <strong className="foreign">
          {question.not_applicable ? c('notApplicable') : (question.answer ?? c('open'))}
        </strong>{' '}
        <span className="muted">
          {c('decidedBy', { by: c(`decided.${decided_by}`) })}
          {confidence !== null && ` · ${c('confidence', { share: format.percent(confidence) })}`}
        </span>
      </p>
    </>
  );
}
