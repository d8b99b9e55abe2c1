import { useState } from 'react';
import { Field } from '../../widgets/field.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { decideBy, phraseLines, phrasesOf, type Question, renameChoice, type RuleDecision, withItem } from './draft.ts';
import { scorecardsTexts } from './texts.ts';

interface Props {
  readonly question: Question;
  /** Null takes the question out. */
  readonly onChange: (question: Question | null) => void;
}

const ROLES = ['operator', 'client', 'any'] as const;

/** A question: its text, weight and choices, and who decides it. Closed until it is wanted. */
export function QuestionEditor({ question, onChange }: Props) {
  const t = scorecardsTexts.use();
  const { decided, choices } = question;
  return (
    <details className="scorecards-question" open={question.uuid === undefined || undefined}>
      <summary>
        <span className="foreign">{question.text === '' ? t('newQuestion') : question.text}</span>{' '}
        <span className="badge">{t(`by.${decided.by}`)}</span>
      </summary>
      <div className="scorecards-part">
        <div className="scorecards-row">
          <Field label={t('question')} className="scorecards-wide">
            <input
              className="input"
              required
              value={question.text}
              onChange={({ target }) => onChange({ ...question, text: target.value })}
            />
          </Field>
          <Field label={t('weight')}>
            <input
              className="input scorecards-number"
              type="number"
              min="0"
              step="any"
              required
              value={question.weight}
              onChange={({ target }) => onChange({ ...question, weight: target.valueAsNumber || 0 })}
            />
          </Field>
        </div>
        {choices.map((choice, at) => (
          // oxlint-disable-next-line react/no-array-index-key
          <div key={at} className="scorecards-row">
            <Field label={t('choice')} className="scorecards-wide">
              <input
                className="input"
                required
                value={choice.label}
                onChange={({ target }) => onChange(renameChoice(question, at, target.value))}
              />
            </Field>
            <Field label={t('choicePoints')}>
              <input
                className="input scorecards-number"
                type="number"
                min="0"
                max="1"
                step="any"
                required
                value={choice.points}
                onChange={({ target }) =>
                  onChange({
                    ...question,
                    choices: withItem(choices, at, { ...choice, points: target.valueAsNumber || 0 }),
                  })
                }
              />
            </Field>
            <label className="check">
              <input
                type="checkbox"
                checked={choice.auto_fail}
                onChange={({ target }) =>
                  onChange({ ...question, choices: withItem(choices, at, { ...choice, auto_fail: target.checked }) })
                }
              />
              {t('autoFail')}
            </label>
            <button
              type="button"
              className="button button-quiet button-icon"
              aria-label={t('removeChoice', { label: choice.label })}
              onClick={() => onChange({ ...question, choices: withItem(choices, at, null) })}
            >
              <Icon name="close" />
            </button>
          </div>
        ))}
        <button
          type="button"
          className="button button-small scorecards-add"
          onClick={() => onChange({ ...question, choices: [...choices, { label: '', points: 0, auto_fail: false }] })}
        >
          {t('addChoice')}
        </button>
        <div className="scorecards-row">
          <Field label={t('decided')}>
            <select
              className="input"
              value={decided.by}
              onChange={({ target }) => onChange(decideBy(question, target.value === 'rule' ? 'rule' : 'model'))}
            >
              <option value="model">{t('by.model')}</option>
              <option value="rule">{t('by.rule')}</option>
            </select>
          </Field>
          {decided.by === 'model' && (
            <Field label={t('role')}>
              <select
                className="input"
                value={decided.role}
                onChange={({ target }) =>
                  onChange({
                    ...question,
                    decided: { ...decided, role: ROLES.find((each) => each === target.value) ?? 'operator' },
                  })
                }
              >
                {ROLES.map((role) => (
                  <option key={role} value={role}>
                    {t(`role.${role}`)}
                  </option>
                ))}
              </select>
            </Field>
          )}
        </div>
        {decided.by === 'model' && (
          <Field label={t('instructions')}>
            <textarea
              className="input"
              value={decided.instructions ?? ''}
              onChange={({ target }) =>
                onChange({
                  ...question,
                  decided: { ...decided, instructions: target.value === '' ? null : target.value },
                })
              }
            />
          </Field>
        )}
        {decided.by === 'rule' && (
          <Rule
            rule={decided}
            labels={choices.map(({ label }) => label)}
            onChange={(rule) => onChange({ ...question, decided: rule })}
          />
        )}
        <button type="button" className="button button-quiet scorecards-add" onClick={() => onChange(null)}>
          <Icon name="trash" />
          {t('removeQuestion')}
        </button>
      </div>
    </details>
  );
}

interface RuleProps {
  readonly rule: RuleDecision;
  readonly labels: readonly string[];
  readonly onChange: (rule: RuleDecision) => void;
}

function Rule({ rule, labels, onChange }: RuleProps) {
  const t = scorecardsTexts.use();
  const answers = (value: string, name: string, set: (answer: string) => void) => (
    <Field label={name}>
      <select className="input" value={value} onChange={({ target }) => set(target.value)}>
        {labels.map((label) => (
          <option key={label}>{label}</option>
        ))}
      </select>
    </Field>
  );
  return (
    <>
      {rule.cases.map((each, at) => {
        const set = (next: typeof each | null) => onChange({ ...rule, cases: withItem(rule.cases, at, next) });
        const { source } = each.heard;
        return (
          // oxlint-disable-next-line react/no-array-index-key
          <div key={at} className="scorecards-row">
            {source.lexicon === undefined ? (
              <Field label={t('phrases', { role: t(`role.${each.heard.role}`) })} className="scorecards-wide">
                <Phrases
                  phrases={source.phrases ?? {}}
                  onChange={(phrases) => set({ ...each, heard: { ...each.heard, source: { phrases } } })}
                />
              </Field>
            ) : (
              <span className="scorecards-wide">
                {t('lexicon', { role: t(`role.${each.heard.role}`) })} <strong>{t(`lexicon.${source.lexicon}`)}</strong>
              </span>
            )}
            {answers(each.answer, t('then'), (answer) => set({ ...each, answer }))}
            <button
              type="button"
              className="button button-quiet button-icon"
              aria-label={t('removeCase')}
              onClick={() => set(null)}
            >
              <Icon name="close" />
            </button>
          </div>
        );
      })}
      <button
        type="button"
        className="button button-small scorecards-add"
        onClick={() =>
          onChange({
            ...rule,
            cases: [
              ...rule.cases,
              {
                heard: {
                  role: 'operator',
                  where: 'anywhere',
                  source: { phrases: {} },
                  even_negated: false,
                  at_least: 1,
                },
                answer: labels[0] ?? '',
              },
            ],
          })
        }
      >
        {t('addCase')}
      </button>
      <div className="scorecards-row">
        {answers(rule.otherwise, t('otherwise'), (otherwise) => onChange({ ...rule, otherwise }))}
      </div>
    </>
  );
}

/** Phrases as they are typed: a line that is not complete yet stays as it is. */
function Phrases({
  phrases,
  onChange,
}: {
  phrases: Record<string, string[]>;
  onChange: (phrases: Record<string, string[]>) => void;
}) {
  const [lines, setLines] = useState(() => phraseLines(phrases));
  return (
    <textarea
      className="input"
      value={lines}
      onChange={({ target }) => {
        setLines(target.value);
        onChange(phrasesOf(target.value));
      }}
    />
  );
}
