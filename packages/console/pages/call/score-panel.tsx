import { useEffect, useRef } from 'react';
import * as format from '../../i18n/format.ts';
import { topicName } from '../../i18n/texts.ts';
import { useMay } from '../../session/session.ts';
import { useAskedAction } from '../../widgets/actions.tsx';
import { Score, scoreTone } from '../../widgets/call-facts.tsx';
import { Button } from '../../widgets/controls.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { type Fact, Facts } from '../../widgets/page.tsx';
import { usePersonName } from '../../widgets/people.ts';
import { useKeys } from '../../widgets/use-events.ts';
import { callTexts } from '../texts.ts';
import { useCallDesk } from './desk/call-desk.tsx';
import { QuestionCard, keysOf } from './question-card.tsx';
import type { Analysis, Question, CallDetail } from './use-call.ts';
import { inQuestion, isLeftToModel, mayFinish, questionsOf, useReview } from './use-review.tsx';

interface Props {
  readonly call: CallDetail;
  readonly saved: Analysis;
  readonly active: Question | null;
  readonly onActivate: (question: Question | null) => void;
  readonly onQuote: (question: Question, index: number) => void;
}

/** The score, the answers that it consists of, and a person's review. */
export function ScorePanel({ call, saved, active, onActivate, onQuote }: Props) {
  const t = callTexts.use();
  const review = useReview(call, saved);
  const mayReview = useMay('review');
  const { disputes = [] } = useCallDesk(call.uuid).data ?? {};
  const analysis = review.shown;
  const questions = questionsOf(analysis);
  const at = questions.findIndex(({ uuid }) => uuid === active?.uuid);
  const move = (by: number) => {
    const next = at < 0 ? (by > 0 ? 0 : questions.length - 1) : Math.min(questions.length - 1, Math.max(0, at + by));
    onActivate(questions[next] ?? null);
  };
  const finish = async () => {
    const left = inQuestion(analysis);
    // The message says why it did not work.
    if (left.length === 0 || (await mayFinish(left))) await review.finish().catch(() => {});
    else onActivate(left[0]!);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => active !== null && onQuote(active, 0),
    ...(mayReview && { f: () => void finish() }),
    ...(mayReview && active !== null && keysOf(active.choices ?? [], (label) => review.answer(active, label))),
  });
  // A call that was analyzed again has no question of the old analysis.
  useEffect(() => {
    if (active !== null && at < 0) onActivate(null);
  });
  const open = questions.filter((question) => isLeftToModel(analysis, question)).length;
  const toReview = questions.filter(({ needs_review }) => needs_review).length;
  const nameOf = usePersonName();
  const withdraw = useAskedAction(
    () => ({ title: t('withdrawTitle'), text: t('withdrawText'), action: t('withdrawReview') }),
    async () => review.withdraw(),
  );
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    panel.current?.querySelector('[data-active="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active?.uuid]);
  return (
    <section className="score-panel" aria-label={t('score')} ref={panel}>
      <div className="card card-body score-head">
        <Dial value={analysis.score} />
        <div className="score-facts">
          {(analysis.auto_failed || analysis.auto_fail_suspected || toReview > 0) && (
            <div className="score-badges">
              {analysis.auto_failed && <span className="badge badge-bad">{t('autoFailed')}</span>}
              {analysis.auto_fail_suspected && <span className="badge badge-warn">{t('autoFailSuspected')}</span>}
              {toReview > 0 && (
                <span className="badge badge-warn">
                  {t('needReview', { n: toReview, count: format.number(toReview) })}
                </span>
              )}
            </div>
          )}
          <p>{t(analysis.score_source === 'reviewed' ? 'byPerson' : 'byMachine')}</p>
          {analysis.review !== null && (
            <p>
              {analysis.review.done ? (
                <span className="score-good">
                  <Icon name="check" size={11} /> <span>{t('reviewDone')}</span>
                </span>
              ) : (
                <span>{t('reviewBegun')}</span>
              )}{' '}
              <span className="muted foreign">
                {t('reviewedBy', { name: nameOf(analysis.review.by), at: format.dateTime(analysis.review.at) })}
              </span>
            </p>
          )}
          <p className="muted">
            {t('answeredOf', {
              answered: format.number(analysis.answered),
              questions: format.number(analysis.questions),
            })}
          </p>
          {open > 0 && <p className="muted">{t('leftToModel', { n: open, count: format.number(open) })}</p>}
          <p className="muted foreign">
            {t('scorecard', { name: analysis.scorecard.name, revision: String(analysis.scorecard.revision) })}
          </p>
        </div>
        <p className="score-summary foreign">{analysis.summary}</p>
        <Details analysis={analysis} />
      </div>
      {analysis.sections.map((section, at) => (
        <div key={`${at} ${section.name}`} className="card score-section">
          <h3>
            <span className="foreign">{section.name}</span>
            <Score value={section.score} />
          </h3>
          <ul>
            {section.questions.map((question) => (
              <QuestionCard
                key={question.uuid}
                callUuid={call.uuid}
                disputes={disputes.filter(({ question_uuid }) => question_uuid === question.uuid)}
                number={questions.indexOf(question) + 1}
                {...{ question, review }}
                isActive={active?.uuid === question.uuid}
                onToggle={() => onActivate(active?.uuid === question.uuid ? null : question)}
                onQuote={(index) => onQuote(question, index)}
              />
            ))}
          </ul>
        </div>
      ))}
      {mayReview && (
        <div className="score-actions">
          {analysis.review?.done !== true && (
            <Button icon="check" kind="primary" disabled={review.isSaving} onClick={() => void finish()}>
              {t('finishReview')}
            </Button>
          )}
          {analysis.review !== null && (
            <Button disabled={review.isSaving} onClick={() => withdraw()}>
              {t('withdrawReview')}
            </Button>
          )}
        </div>
      )}
    </section>
  );
}

/** The score as a number in a ring. */
function Dial({ value }: { value: number | null }) {
  const radius = 30;
  const length = 2 * Math.PI * radius;
  return (
    <div className={value === null ? 'dial' : `dial score-${scoreTone(value)}`}>
      <svg width="76" height="76" viewBox="0 0 76 76" aria-hidden="true">
        <circle cx="38" cy="38" r={radius} className="dial-track" />
        <circle
          cx="38"
          cy="38"
          r={radius}
          className="dial-value"
          strokeDasharray={`${((value ?? 0) / 100) * length} ${length}`}
          transform="rotate(-90 38 38)"
        />
      </svg>
      <strong className="number">{value === null ? '–' : format.score(value)}</strong>
    </div>
  );
}

/** From -1 to 1. */
function feeling(value: number | null): string {
  return value === null ? '–' : format.number(value, 2);
}

function Details({ analysis }: { analysis: Analysis }) {
  const t = callTexts.use();
  const { metrics, topics, reason, resolution, manipulation, sentiment } = analysis;
  const { operator, client, silence } = metrics.talk_ratio;
  const part = (name: string, share: number | null) => (share === null ? [] : `${name} ${format.percent(share)}`);
  return (
    <Facts
      of={[
        manipulation !== null && [t('manipulation'), <q key="quote">{manipulation.quote}</q>],
        reason !== null && [t('reason'), reason],
        resolution !== null && [t('resolution'), t(`resolution.${resolution}`)],
        topics.length > 0 && [t('topics'), topics.map(topicName).join(', ')],
        [
          t('talk'),
          [part(t('role.operator'), operator), part(t('role.client'), client), part(t('silence'), silence)]
            .flat()
            .join(' · '),
        ],
        ...(['operator', 'client'] as const).map(
          (role): Fact | false =>
            sentiment !== null && [
              t('sentiment', { role: t(`role.${role}`) }),
              t('sentimentOf', {
                whole: feeling(sentiment[role]),
                start: feeling(sentiment.start[role]),
                end: feeling(sentiment.end[role]),
              }),
            ],
        ),
        metrics.interruptions !== null && [t('interruptions'), format.number(metrics.interruptions)],
      ]}
    />
  );
}
