import './call.css';
import './desk/desk.css';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { failureText } from '../../i18n/faults/texts.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { useMay } from '../../session/session.ts';
import { StatusBadge } from '../../widgets/call-facts.tsx';
import { Card, Facts, useTitle, State, useFailure, LoadingOrFailed } from '../../widgets/page.tsx';
import { useKeyList, useKeys } from '../../widgets/use-events.ts';
import { ONE_COLUMN, useMedia } from '../../widgets/use-media.ts';
import { callTexts } from '../texts.ts';
import { CallActions, Erased, type Receipt } from './call-actions.tsx';
import { Comments, useComments } from './comments.tsx';
import { CallDesk } from './desk/call-desk.tsx';
import { Listening, useListening } from './listening.tsx';
import { Neighbours } from './neighbours.tsx';
import { ScorePanel } from './score-panel.tsx';
import { type CallDetail, isInProgress, type Question, useCall } from './use-call.ts';
import { questionsOf } from './use-review.tsx';

const route = getRouteApi('/calls/$uuid');

const KEYS = [
  ['Space', 'key.space'],
  ['← →', 'key.arrows'],
  ['j k', 'key.jk'],
  ['Enter', 'key.enter'],
  ['1 – 9', 'key.numbers'],
  ['0', 'notApplicable'],
  ['f', 'finishReview'],
  ['p n', 'key.neighbours'],
] as const;

const OF_REVIEWS: ReadonlySet<string> = new Set(['key.numbers', 'notApplicable', 'finishReview']);

function CallView({ call, onErased }: { call: CallDetail; onErased: (receipt: Receipt) => void }) {
  const t = callTexts.use();
  const { q: words, question: firstQuestion = null, t: moment } = route.useSearch();
  const listening = useListening(call, Number(moment) || 0);
  const comments = useComments(call.uuid);
  const [activeUuid, setActive] = useState(firstQuestion);
  const isNarrow = useMedia(ONE_COLUMN);
  useTitle(t('title', { operator: call.operator_name, at: format.dateTime(call.start_time) }));
  const { analysis } = call;
  const active = analysis === null ? null : (questionsOf(analysis).find(({ uuid }) => uuid === activeUuid) ?? null);

  const activate = (question: Question | null) => {
    setActive(question?.uuid ?? null);
    // Where the columns are below each other, scrolling to the quote would take the question out of sight.
    if (!isNarrow) listening.quote(question, 0, false);
  };
  useKeys({ Escape: () => setActive(null) });
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
          <CallActions call={call} onErased={onErased} />
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
          <Listening
            {...{ call, listening, words }}
            question={active}
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
            <Card title={t('comments')}>
              <Comments callUuid={call.uuid} comments={comments.filter(({ utterance }) => utterance === null)} />
            </Card>
          )}
        </div>
        {analysis === null ? (
          <p className="card card-body muted no-score">
            {t(isInProgress(call) ? 'notYet' : call.status === 'completed' ? 'noScore' : 'notAnalyzed')}
          </p>
        ) : (
          <ScorePanel
            {...{ call, active }}
            saved={analysis}
            onActivate={activate}
            onQuote={(question, index) => listening.quote(question, index, true)}
          />
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

function Meta({ call }: { call: CallDetail }) {
  const t = callTexts.use();
  const language = `language.${call.language ?? ''}`;
  return (
    <Facts
      className="facts-line"
      of={[
        [t('segmentType'), call.segment_type],
        call.duration !== null && [t('duration'), format.duration(call.duration)],
        shellTexts.has(language) && [t('language'), shellTexts.translate(language)],
        call.operator_group_name !== null && [t('group'), call.operator_group_name],
        call.direction !== null && [t('direction'), t(`direction.${call.direction}`)],
        call.partner_call_id !== null && [t('ownId'), call.partner_call_id],
      ]}
    />
  );
}

/** One call: its recording, transcript and scores. */
export default function CallPage() {
  const { uuid } = route.useParams();
  const call = useCall(uuid);
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  return (
    <>
      {call.isGone ? (
        <Gone error={call.error} />
      ) : call.data === undefined ? (
        <LoadingOrFailed query={call} />
      ) : (
        <CallView key={uuid} call={call.data} onErased={setReceipt} />
      )}
      {receipt !== null && receipt.uuid === uuid && <Erased receipt={receipt} />}
    </>
  );
}

/** An erased call does not come back, so there is nothing to try again. */
function Gone({ error }: { error: unknown }) {
  const t = callTexts.use();
  const { title, text } = useFailure(error);
  useTitle(title);
  return (
    <State isPage title={title} text={text}>
      <Link to="/calls" className="button">
        {t('toCalls')}
      </Link>
    </State>
  );
}
