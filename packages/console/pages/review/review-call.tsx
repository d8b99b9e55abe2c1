import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import * as format from '../../i18n/format.ts';
import { Score } from '../../widgets/call-facts.tsx';
import { Confirm } from '../../widgets/confirm.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { useKeyList, useKeys } from '../../widgets/use-keys.ts';
import { ONE_COLUMN, useMedia } from '../../widgets/use-media.ts';
import { useCallDesk } from '../call/desk/use-call-desk.ts';
import { PlayerPanel, usePlayback } from '../call/player/player-panel.tsx';
import { SKIP_SECONDS, usePlayer } from '../call/player/use-player.ts';
import { Evidence } from '../call/question-card.tsx';
import { ReviewConflict } from '../call/review-conflict.tsx';
import { callTexts } from '../call/texts.ts';
import { Transcript } from '../call/transcript.tsx';
import type { Analysis, CallDetail, Question } from '../call/use-call.ts';
import { isLeftToModel, machineAnswer, questionsOf, useReview } from '../call/use-review.ts';
import { reviewTexts } from './texts.ts';

interface Props {
  readonly call: CallDetail;
  readonly onNext: () => void;
}

/** One call of the queue. It is finished when each of its answers in question was confirmed or corrected, or by its button. */
export function ReviewCall({ call, onNext }: Props) {
  const t = reviewTexts.use();
  if (call.analysis === null) {
    return (
      <button type="button" className="button" onClick={onNext}>
        {t('skip')}
      </button>
    );
  }
  return <Judge call={call} analysis={call.analysis} onNext={onNext} />;
}

function Judge({ call, analysis, onNext }: Props & { analysis: Analysis }) {
  const t = reviewTexts.use();
  const c = callTexts.use();
  const playback = usePlayback(call);
  const player = usePlayer(playback.data?.url ?? null);
  const review = useReview(call, analysis);
  const questions = questionsOf(analysis);
  const { data: desk } = useCallDesk(call.uuid);
  // When the call came up. A correction takes an answer off the list of the analysis.
  const [inQuestion] = useState(() =>
    questions
      .filter((each) => each.needs_review || (isOpen(each) && !isLeftToModel(analysis, each)))
      .map(({ uuid }) => uuid),
  );
  // A call that was assigned, disputed or chosen by chance may have none: a person looks at all its answers.
  const asked = inQuestion.length > 0 ? inQuestion : questions.map(({ uuid }) => uuid);
  const [judged, setJudged] = useState<ReadonlySet<string>>(new Set());
  const [unanswered, setUnanswered] = useState<readonly string[]>([]);
  const [at, setAt] = useState(0);
  const question = questions.find(({ uuid }) => uuid === asked[at]) ?? null;
  const [shown, setShown] = useState<{ index: number } | null>(null);
  const first = question?.evidence[0]?.utterance;
  // Where the columns are below each other, scrolling to the quote would take the question out of sight.
  const isNarrow = useMedia(ONE_COLUMN);
  useEffect(
    () => setShown(first === undefined || isNarrow ? null : { index: first }),
    [first, question?.uuid, isNarrow],
  );

  const labels = question === null ? [] : (question.choices ?? []);
  const finish = async () => {
    try {
      await review.finish();
      onNext();
    } catch {
      // The message says why. The answer stays where it is.
    }
  };
  const finishUnlessUnanswered = (answered: ReadonlySet<string>) => {
    const left = inQuestion.filter((uuid) => !answered.has(uuid));
    if (left.length > 0) setUnanswered(left);
    else void finish();
  };
  const proceed = (answered: string) => {
    const all = new Set([...judged, answered]);
    setJudged(all);
    if (at + 1 < asked.length) setAt(at + 1);
    else finishUnlessUnanswered(all);
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
    if (!review.isSaving) finishUnlessUnanswered(judged);
  };
  const hear = (index: number) => {
    const evidence = question?.evidence[index];
    const { start = null, end = null } =
      evidence === undefined ? {} : (call.transcript?.utterances[evidence.utterance] ?? {});
    if (evidence !== undefined) setShown({ index: evidence.utterance });
    if (start !== null && end !== null && call.audio !== null) player.playFrom(start, end);
  };
  useKeys({
    Enter: confirm,
    ' ': () => call.audio !== null && player.toggle(),
    ArrowLeft: () => player.skip(-SKIP_SECONDS),
    ArrowRight: () => player.skip(SKIP_SECONDS),
    q: () => hear(0),
    n: onNext,
    f: finishNow,
    j: () => setAt(Math.min(asked.length - 1, at + 1)),
    k: () => setAt(Math.max(0, at - 1)),
    ...(labels.length > 0 && { '0': () => correct(null) }),
    ...Object.fromEntries(labels.slice(0, 9).map((label, index) => [String(index + 1), () => correct(label)])),
  });

  useKeyList([
    ['Enter', t('confirm')],
    ['1 – 9', c('key.numbers')],
    ['0', c('key.zero')],
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
        {call.audio !== null && <PlayerPanel call={call} recording={call.audio} player={player} playback={playback} />}
        <Transcript
          call={call}
          player={player}
          question={question}
          words={undefined}
          shown={shown}
          under={() => null}
        />
      </div>
      <section className="score-panel" aria-label={t('question')}>
        <ReviewConflict analysis={analysis} review={review} />
        {unanswered.length > 0 && (
          <Confirm
            title={t('unanswered.title')}
            text={t('unanswered.text')}
            action={t('unanswered.finish')}
            isSafe
            onConfirm={() => void finish()}
            onClose={() => {
              setAt(asked.indexOf(unanswered[0]!));
              setUnanswered([]);
            }}
          >
            <ul className="review-unanswered foreign">
              {questions
                .filter(({ uuid }) => unanswered.includes(uuid))
                .map(({ uuid, text }) => (
                  <li key={uuid}>{text}</li>
                ))}
            </ul>
          </Confirm>
        )}
        <div className="card card-body review-call">
          <div className="review-line">
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
            <Ask
              question={question}
              position={asked.length > 1 ? t('answerOf', { at: String(at + 1), all: String(asked.length) }) : null}
              labels={labels}
              isSaving={review.isSaving}
              onQuote={hear}
              onConfirm={confirm}
              onCorrect={correct}
            />
          )}
          <div className="review-line">
            <button type="button" className="button" disabled={review.isSaving} onClick={finishNow}>
              <kbd aria-hidden="true">f</kbd>
              {t('finish')}
            </button>
            <button type="button" className="button button-quiet" onClick={onNext}>
              <kbd aria-hidden="true">n</kbd>
              {t('skip')}
            </button>
          </div>
        </div>
      </section>
    </div>
  );
}

function isOpen({ answer, not_applicable }: Question): boolean {
  return answer === null && !not_applicable;
}

interface AskProps {
  readonly question: Question;
  readonly position: string | null;
  readonly labels: readonly string[];
  readonly isSaving: boolean;
  readonly onQuote: (index: number) => void;
  readonly onConfirm: () => void;
  readonly onCorrect: (answer: string | null) => void;
}

function Ask({ question, position, labels, isSaving, onQuote, onConfirm, onCorrect }: AskProps) {
  const t = reviewTexts.use();
  const c = callTexts.use();
  const { confidence, decided_by } = machineAnswer(question);
  return (
    <>
      {position !== null && <p className="muted number">{position}</p>}
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
      <Evidence question={question} onQuote={onQuote} />
      <button
        type="button"
        className="button button-primary review-confirm"
        disabled={isOpen(question) || isSaving}
        onClick={onConfirm}
      >
        <Icon name="check" />
        {t('confirm')}
        <kbd aria-hidden="true">Enter</kbd>
      </button>
      {labels.length > 0 && (
        <div className="choices" role="group" aria-label={c('correct')}>
          {[...labels, null].map((label, index) => (
            <button
              key={label ?? ''}
              type="button"
              className="chip"
              disabled={isSaving}
              onClick={() => onCorrect(label)}
            >
              <kbd aria-hidden="true">{label === null ? 0 : index + 1}</kbd>
              <span className="foreign">{label ?? c('notApplicable')}</span>
            </button>
          ))}
        </div>
      )}
    </>
  );
}
