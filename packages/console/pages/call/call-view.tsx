import './desk/desk.css';
import { useEffect, useState } from 'react';
import { shellTexts } from '../../app/shell-texts.ts';
import { failureText } from '../../i18n/faults/texts.ts';
import * as format from '../../i18n/format.ts';
import { useMay } from '../../session/rights.ts';
import { StatusBadge } from '../../widgets/call-facts.tsx';
import { useKeyList, useKeys } from '../../widgets/use-keys.ts';
import { ONE_COLUMN, useMedia } from '../../widgets/use-media.ts';
import { useTitle } from '../../widgets/use-title.ts';
import { CallActions } from './call-actions.tsx';
import { Comments, useComments } from './comments.tsx';
import { CallDesk } from './desk/call-desk.tsx';
import { DeskOf } from './desk/use-call-desk.ts';
import { Neighbours } from './list/neighbours.tsx';
import { PlayerPanel, usePlayback } from './player/player-panel.tsx';
import { silencesOf } from './player/silences.ts';
import { usePlayer, SKIP_SECONDS } from './player/use-player.ts';
import { ScorePanel } from './score-panel.tsx';
import { callTexts } from './texts.ts';
import { Transcript } from './transcript.tsx';
import type { Analysis, CallDetail, Question } from './use-call.ts';
import { questionsOf, useReview } from './use-review.ts';

const KEYS = [
  ['Space', 'key.space'],
  ['← →', 'key.arrows'],
  ['j k', 'key.jk'],
  ['Enter', 'key.enter'],
  ['1 – 9', 'key.numbers'],
  ['0', 'key.zero'],
  ['f', 'key.finish'],
  ['p n', 'key.neighbours'],
] as const;

const OF_REVIEWS: ReadonlySet<string> = new Set(['key.numbers', 'key.zero', 'key.finish']);

interface Props {
  readonly call: CallDetail;
  readonly words: string | undefined;
  /** The question to open first. */
  readonly firstQuestion: string | undefined;
  /** The second to begin at. */
  readonly moment: number;
}

export function CallView({ call, words, firstQuestion, moment }: Props) {
  const t = callTexts.use();
  const playback = usePlayback(call);
  const player = usePlayer(playback.data?.url ?? null, { startAt: moment, silences: silencesOf(call) });
  const comments = useComments(call.uuid);
  const [activeUuid, setActive] = useState<string | null>(firstQuestion ?? null);
  const [shown, setShown] = useState(() => utteranceAt(call, moment));
  const isNarrow = useMedia(ONE_COLUMN);
  useTitle(t('title', { operator: call.operator_name, at: format.dateTime(call.start_time) }));
  const { analysis } = call;
  const active = analysis === null ? null : (questionsOf(analysis).find(({ uuid }) => uuid === activeUuid) ?? null);

  const showQuote = (question: Question, index: number, isPlayed: boolean) => {
    const evidence = question.evidence[index];
    if (evidence === undefined) return;
    setShown({ index: evidence.utterance });
    const utterance = call.transcript?.utterances[evidence.utterance];
    const { start = null, end = null } = utterance ?? {};
    if (isPlayed && start !== null && end !== null && call.audio !== null) player.playFrom(start, end);
  };
  const activate = (question: Question | null) => {
    setActive(question?.uuid ?? null);
    // Where the columns are below each other, scrolling to the quote would take the question out of sight.
    if (question !== null && !isNarrow) showQuote(question, 0, false);
  };
  useKeys({
    ' ': () => call.audio !== null && player.toggle(),
    ArrowLeft: () => player.skip(-SKIP_SECONDS),
    ArrowRight: () => player.skip(SKIP_SECONDS),
    Escape: () => setActive(null),
  });
  const keys = useMay('review') ? KEYS : KEYS.filter(([, text]) => !OF_REVIEWS.has(text));
  useKeyList(keys.map(([key, text]) => [key, t(text)]));
  return (
    <div className="page call-page">
      <div className="call-head">
        <Neighbours uuid={call.uuid} words={words} />
        <div className="page-head">
          <h1>
            <span className="foreign">{call.operator_name}</span>
            <span className="call-subject">
              <span className="foreign">{call.client_phone_number}</span>, {format.dateTime(call.start_time)}
            </span>
          </h1>
          {call.status !== 'completed' && <StatusBadge status={call.status} />}
          <CallActions call={call} />
        </div>
        <Meta call={call} />
        <CallDesk call={call} />
      </div>
      {call.failure !== null && call.status === 'failed' && (
        <p role="alert" className="notice notice-bad foreign">
          {failureText(call.failure)}
        </p>
      )}
      <Progress call={call} />
      <div className="call-columns">
        <div className="call-main">
          {call.audio !== null && (
            <PlayerPanel call={call} recording={call.audio} player={player} playback={playback} />
          )}
          <Transcript
            call={call}
            player={player}
            question={active}
            words={words}
            shown={shown}
            under={(index) =>
              comments !== null && (
                <Comments
                  callUuid={call.uuid}
                  utterance={index}
                  comments={comments.filter(({ utterance }) => utterance === index)}
                />
              )
            }
          />
          {comments !== null && (
            <section className="card card-body" aria-label={t('comments')}>
              <h2>{t('comments')}</h2>
              <Comments callUuid={call.uuid} comments={comments.filter(({ utterance }) => utterance === null)} />
            </section>
          )}
        </div>
        {analysis === null ? (
          <p className="card card-body muted no-score">{t(call.status === 'completed' ? 'noScore' : 'notYet')}</p>
        ) : (
          <DeskOf value={call.uuid}>
            <Judgement
              call={call}
              analysis={analysis}
              active={active}
              onActivate={activate}
              onQuote={(question, index) => showQuote(question, index, true)}
            />
          </DeskOf>
        )}
      </div>
    </div>
  );
}

const PROGRESS = /^transcribed (\d+) of (\d+) (seconds|minutes)$/u;

/** How much of a recording has been transcribed, which the service writes into the history. */
function Progress({ call: { status, history } }: { call: CallDetail }) {
  const t = callTexts.use();
  const [, done, all, unit] = PROGRESS.exec(history.findLast(({ detail }) => detail !== null)?.detail ?? '') ?? [];
  if (status !== 'transcribing' || done === undefined || all === undefined) return null;
  return (
    <p className="notice" role="status">
      {t(unit === 'seconds' ? 'progress.seconds' : 'progress.minutes', { done, all })}{' '}
      <progress max={Number(all)} value={Number(done)} aria-hidden="true" />
    </p>
  );
}

/** The utterance to show first: that of the linked moment. */
function utteranceAt(call: CallDetail, moment: number): { index: number } | null {
  if (moment <= 0) return null;
  const index = call.transcript?.utterances.findLastIndex(({ start }) => start !== null && start <= moment) ?? -1;
  return index < 0 ? null : { index };
}

interface JudgementProps {
  readonly call: CallDetail;
  readonly analysis: Analysis;
  readonly active: Question | null;
  readonly onActivate: (question: Question | null) => void;
  readonly onQuote: (question: Question, index: number) => void;
}

/** The score and its keys. */
function Judgement({ call, analysis, active, onActivate, onQuote }: JudgementProps) {
  const review = useReview(call, analysis);
  const mayReview = useMay('review');
  const questions = questionsOf(review.shown);
  const at = questions.findIndex(({ uuid }) => uuid === active?.uuid);
  const labels = active === null || !mayReview ? [] : (active.choices ?? []);
  const move = (by: number) => {
    const next = at < 0 ? (by > 0 ? 0 : questions.length - 1) : Math.min(questions.length - 1, Math.max(0, at + by));
    onActivate(questions[next] ?? null);
  };
  const numbers = labels
    .slice(0, 9)
    .map((label, index): [string, () => void] => [
      String(index + 1),
      () => active !== null && review.answer(active, label),
    ]);
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => active !== null && onQuote(active, 0),
    ...(mayReview && { f: () => void review.finish().catch(() => {}) }),
    ...(labels.length > 0 && { '0': () => active !== null && review.answer(active, null) }),
    ...Object.fromEntries(numbers),
  });
  // A call that was analyzed again has no question of the old analysis.
  useEffect(() => {
    if (active !== null && at < 0) onActivate(null);
  });
  return <ScorePanel {...{ review, mayReview, active, onActivate, onQuote }} analysis={review.shown} />;
}

function Meta({ call }: { call: CallDetail }) {
  const t = callTexts.use();
  const language = `language.${call.language ?? ''}`;
  const facts = [
    [t('segmentType'), call.segment_type],
    ...(call.duration === null ? [] : [[t('duration'), format.duration(call.duration)]]),
    ...(shellTexts.has(language) ? [[t('language'), shellTexts.translate(language)]] : []),
    ...(call.operator_group_name === null ? [] : [[t('group'), call.operator_group_name]]),
    ...(call.direction === null ? [] : [[t('direction'), t(`direction.${call.direction}`)]]),
    ...(call.partner_call_id === null ? [] : [[t('ownId'), call.partner_call_id]]),
  ] as const;
  return (
    <dl className="facts facts-line">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="foreign">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
