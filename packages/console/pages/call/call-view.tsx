import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { shellTexts } from '../../app/shell-texts.ts';
import { failureText } from '../../i18n/faults/texts.ts';
import * as format from '../../i18n/format.ts';
import { useMay } from '../../session/rights.ts';
import { StatusBadge } from '../../widgets/call-facts.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { useKeys } from '../../widgets/use-keys.ts';
import { useTitle } from '../../widgets/use-title.ts';
import { CallActions } from './call-actions.tsx';
import { Comments, useComments } from './comments.tsx';
import { KeyHelp } from './key-help.tsx';
import { PlayerPanel, usePlayback } from './player/player-panel.tsx';
import { usePlayer, SKIP_SECONDS } from './player/use-player.ts';
import { ScorePanel } from './score-panel.tsx';
import { callTexts } from './texts.ts';
import { Transcript } from './transcript.tsx';
import type { Analysis, CallDetail, Question } from './use-call.ts';
import { questionsOf, useReview } from './use-review.ts';

interface Props {
  readonly call: CallDetail;
  readonly words: string | undefined;
  /** The question to open first. */
  readonly firstQuestion: string | undefined;
}

export function CallView({ call, words, firstQuestion }: Props) {
  const t = callTexts.use();
  const playback = usePlayback(call);
  const player = usePlayer(playback.data?.url ?? null);
  const comments = useComments(call.uuid);
  const [activeUuid, setActive] = useState<string | null>(firstQuestion ?? null);
  const [shown, setShown] = useState<{ index: number } | null>(null);
  const [isHelp, setHelp] = useState(false);
  useTitle(t('title', { operator: call.operator_name }));
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
    if (question !== null) showQuote(question, 0, false);
  };
  useKeys({
    ' ': () => call.audio !== null && player.toggle(),
    ArrowLeft: () => player.skip(-SKIP_SECONDS),
    ArrowRight: () => player.skip(SKIP_SECONDS),
    '?': () => setHelp(true),
    Escape: () => setActive(null),
  });
  return (
    <div className="page call-page">
      <div className="call-head">
        <nav className="crumbs" aria-label={t('path')}>
          <Icon name="left" size={12} />
          <Link to="/calls">{t('calls')}</Link>
        </nav>
        <div className="page-head">
          <h1 className="foreign">{call.operator_name}</h1>
          <StatusBadge status={call.status} />
          <CallActions call={call} onHelp={() => setHelp(true)} />
        </div>
        <Meta call={call} />
      </div>
      {call.failure !== null && call.status === 'failed' && (
        <p role="alert" className="notice notice-bad foreign">
          {failureText(call.failure)}
        </p>
      )}
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
          <p className="card card-body muted">{t(call.status === 'completed' ? 'noScore' : 'notYet')}</p>
        ) : (
          <Judgement
            call={call}
            analysis={analysis}
            active={active}
            onActivate={activate}
            onQuote={(question, index) => showQuote(question, index, true)}
          />
        )}
      </div>
      {isHelp && <KeyHelp onClose={() => setHelp(false)} />}
    </div>
  );
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
    [t('started'), format.dateTime(call.start_time)],
    [t('client'), call.client_phone_number],
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
