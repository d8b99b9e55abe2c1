import { type ReactNode, useEffect, useRef, useState } from 'react';
import { usePersonName } from '../../api/people.ts';
import * as format from '../../i18n/format.ts';
import { topicName } from '../../i18n/topics/texts.ts';
import { Score, scoreTone } from '../../widgets/call-facts.tsx';
import { Confirm } from '../../widgets/confirm.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { QuestionCard } from './question-card.tsx';
import { ReviewConflict } from './review-conflict.tsx';
import { callTexts } from './texts.ts';
import type { Analysis, Question } from './use-call.ts';
import { isLeftToModel, questionsOf, type useReview } from './use-review.ts';

interface Props {
  readonly analysis: Analysis;
  readonly review: ReturnType<typeof useReview>;
  /** Whether the user may correct answers. */
  readonly mayReview: boolean;
  readonly active: Question | null;
  readonly onActivate: (question: Question | null) => void;
  readonly onQuote: (question: Question, index: number) => void;
}

/** The score, the answers that it consists of, and a person's review. */
export function ScorePanel({ analysis, review, mayReview, active, onActivate, onQuote }: Props) {
  const t = callTexts.use();
  const numbers = new Map(questionsOf(analysis).map(({ uuid }, index) => [uuid, index + 1]));
  const open = questionsOf(analysis).filter((question) => isLeftToModel(analysis, question)).length;
  const toReview = questionsOf(analysis).filter(({ needs_review }) => needs_review).length;
  const nameOf = usePersonName();
  const [isWithdrawing, setWithdrawing] = useState(false);
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
        <Facts analysis={analysis} />
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
                number={numbers.get(question.uuid)!}
                question={question}
                isActive={active?.uuid === question.uuid}
                onToggle={() => onActivate(active?.uuid === question.uuid ? null : question)}
                onQuote={(index) => onQuote(question, index)}
                draftKey={`answer ${analysis.uuid} ${question.uuid}`}
                isPending={review.pending.has(question.uuid)}
                isWaiting={review.waiting.has(question.uuid)}
                onAnswer={mayReview ? (answer, comment) => review.answer(question, answer, comment) : null}
              />
            ))}
          </ul>
        </div>
      ))}
      <ReviewConflict analysis={analysis} review={review} />
      {mayReview && (
        <div className="score-actions">
          {analysis.review?.done !== true && (
            <button
              type="button"
              className="button button-primary"
              disabled={review.isSaving}
              onClick={() => void review.finish().catch(() => {})}
            >
              <Icon name="check" />
              {t('finishReview')}
            </button>
          )}
          {analysis.review !== null && (
            <button type="button" className="button" disabled={review.isSaving} onClick={() => setWithdrawing(true)}>
              {t('withdrawReview')}
            </button>
          )}
        </div>
      )}
      {isWithdrawing && (
        <Confirm
          title={t('withdrawTitle')}
          text={t('withdrawText')}
          action={t('withdrawReview')}
          onConfirm={review.withdraw}
          onClose={() => setWithdrawing(false)}
        />
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

function Facts({ analysis }: { analysis: Analysis }) {
  const t = callTexts.use();
  const { metrics, topics, reason, resolution, manipulation, sentiment } = analysis;
  const { operator, client, silence } = metrics.talk_ratio;
  const facts: [name: string, value: ReactNode][] = [
    ...(manipulation === null
      ? []
      : [
          [
            t('manipulation'),
            <q key="m" className="foreign">
              {manipulation.quote}
            </q>,
          ] as [string, ReactNode],
        ]),
    ...(reason === null
      ? []
      : [
          [
            t('reason'),
            <span key="r" className="foreign">
              {reason}
            </span>,
          ] as [string, ReactNode],
        ]),
    ...(resolution === null ? [] : [[t('resolution'), t(`resolution.${resolution}`)] as [string, ReactNode]]),
    ...(topics.length === 0
      ? []
      : [
          [
            t('topics'),
            <span key="t" className="foreign">
              {topics.map(topicName).join(', ')}
            </span>,
          ] as [string, ReactNode],
        ]),
    [
      t('talk'),
      `${t('role.operator')} ${format.percent(operator)} · ${t('role.client')} ${format.percent(client)}${silence === null ? '' : ` · ${t('silence')} ${format.percent(silence)}`}`,
    ],
    ...(sentiment === null
      ? []
      : (['operator', 'client'] as const).map((role): [string, ReactNode] => [
          t('sentiment', { role: t(`role.${role}`) }),
          t('sentimentOf', {
            whole: feeling(sentiment[role]),
            start: feeling(sentiment.start[role]),
            end: feeling(sentiment.end[role]),
          }),
        ])),
    ...(metrics.interruptions === null
      ? []
      : [[t('interruptions'), format.number(metrics.interruptions)] as [string, ReactNode]]),
  ];
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
