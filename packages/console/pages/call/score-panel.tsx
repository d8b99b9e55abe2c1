import { useEffect, useRef } from 'react';
import * as format from '../../i18n/format.ts';
import { topicName } from '../../i18n/texts.ts';
import { useAskedAction } from '../../widgets/actions.tsx';
import { Score, scoreTone } from '../../widgets/call-facts.tsx';
import { Button } from '../../widgets/controls.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { type Fact, Facts } from '../../widgets/page.tsx';
import { usePersonName } from '../../widgets/people.ts';
import { callTexts } from '../texts.ts';
import { QuestionCard } from './question-card.tsx';
import { ReviewConflict } from './review-conflict.tsx';
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
  readonly onFinish: () => void;
}

/** The score, the answers that it consists of, and a person's review. */
export function ScorePanel({ analysis, review, mayReview, active, onActivate, onQuote, onFinish }: Props) {
  const t = callTexts.use();
  const numbers = new Map(questionsOf(analysis).map(({ uuid }, index) => [uuid, index + 1]));
  const open = questionsOf(analysis).filter((question) => isLeftToModel(analysis, question)).length;
  const toReview = questionsOf(analysis).filter(({ needs_review }) => needs_review).length;
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
            <Button icon="check" kind="primary" disabled={review.isSaving} onClick={onFinish}>
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
