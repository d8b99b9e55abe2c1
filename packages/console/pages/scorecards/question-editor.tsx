import { useState } from 'react';
import { Button, Check, Field, SelectField, TextArea, TextField } from '../../widgets/controls.tsx';
import { scorecardsTexts } from '../texts.ts';
import { decideBy, phraseLines, phrasesOf, type Question, renameChoice, type RuleDecision, withItem } from './draft.ts';

interface Props {
  readonly question: Question;
  /** Null takes the question out. */
  readonly onChange: (question: Question | null) => void;
}

const BY = ['model', 'rule'] as const;
const ROLES = ['operator', 'client', 'any'] as const;
/** Of a new case. */
const NOTHING_HEARD: RuleDecision['cases'][number]['heard'] = {
  role: 'operator',
  where: 'anywhere',
  source: { phrases: {} },
  even_negated: false,
  at_least: 1,
};

/** A question: its text, weight and choices, and who decides it. Closed until it is wanted. */
export function QuestionEditor({ question, onChange }: Props) {
  const t = scorecardsTexts.use();
  const { decided, choices } = question;
  const set = (changed: Partial<Question>) => onChange({ ...question, ...changed });
  const setChoice = (at: number, choice: Question['choices'][number] | null) =>
    set({ choices: withItem(choices, at, choice) });
  return (
    <details className="scorecards-question" open={question.uuid === undefined || undefined}>
      <summary>
        <span className="foreign">{question.text === '' ? t('newQuestion') : question.text}</span>{' '}
        <span className="muted">{t(`by.${decided.by}`)}</span>
      </summary>
      <div className="stack">
        <div className="row scorecards-row">
          <TextField
            label={t('question')}
            fieldClass="scorecards-wide"
            required
            value={question.text}
            onText={(text) => set({ text })}
          />
          <TextField
            label={t('weight')}
            className="scorecards-number"
            type="number"
            min="0"
            step="any"
            required
            value={question.weight}
            onText={(text) => set({ weight: Number(text) || 0 })}
          />
        </div>
        {choices.map((choice, at) => (
          // oxlint-disable-next-line react/no-array-index-key
          <div key={at} className="row scorecards-row">
            <TextField
              label={t('choice')}
              fieldClass="scorecards-wide"
              required
              value={choice.label}
              onText={(text) => onChange(renameChoice(question, at, text))}
            />
            <TextField
              label={t('choicePoints')}
              className="scorecards-number"
              type="number"
              min="0"
              max="1"
              step="any"
              required
              value={choice.points}
              onText={(text) => setChoice(at, { ...choice, points: Number(text) || 0 })}
            />
            <Check checked={choice.auto_fail} onTick={(isTicked) => setChoice(at, { ...choice, auto_fail: isTicked })}>
              {t('autoFail')}
            </Check>
            <Button
              icon="close"
              kind="quiet"
              label={t('removeChoice', { label: choice.label })}
              onClick={() => setChoice(at, null)}
            />
          </div>
        ))}
        <Button
          isSmall
          className="scorecards-add"
          onClick={() => set({ choices: [...choices, { label: '', points: 0, auto_fail: false }] })}
        >
          {t('addChoice')}
        </Button>
        <div className="row scorecards-row">
          <SelectField
            label={t('decided')}
            options={BY}
            nameOf={(by) => t(`by.${by}`)}
            value={decided.by}
            onChoose={(by) => onChange(decideBy(question, by))}
          />
          {decided.by === 'model' && (
            <SelectField
              label={t('role')}
              options={ROLES}
              nameOf={(role) => t(`role.${role}`)}
              value={decided.role}
              onChoose={(role) => set({ decided: { ...decided, role } })}
            />
          )}
        </div>
        {decided.by === 'model' && (
          <TextArea
            label={t('instructions')}
            value={decided.instructions ?? ''}
            onText={(text) => set({ decided: { ...decided, instructions: text || null } })}
          />
        )}
        {decided.by === 'rule' && (
          <Rule rule={decided} labels={choices.map(({ label }) => label)} onChange={(rule) => set({ decided: rule })} />
        )}
        <Button icon="trash" kind="quiet" className="scorecards-add" onClick={() => onChange(null)}>
          {t('removeQuestion')}
        </Button>
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
    <SelectField label={name} options={labels} value={value} onChoose={set} />
  );
  return (
    <>
      {rule.cases.map((each, at) => {
        const set = (next: typeof each | null) => onChange({ ...rule, cases: withItem(rule.cases, at, next) });
        const { source } = each.heard;
        return (
          // oxlint-disable-next-line react/no-array-index-key
          <div key={at} className="row scorecards-row">
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
            <Button icon="close" kind="quiet" label={t('removeCase')} onClick={() => set(null)} />
          </div>
        );
      })}
      <Button
        isSmall
        className="scorecards-add"
        onClick={() => onChange({ ...rule, cases: [...rule.cases, { heard: NOTHING_HEARD, answer: labels[0] ?? '' }] })}
      >
        {t('addCase')}
      </Button>
      <div className="row scorecards-row">
        {answers(rule.otherwise, t('otherwise'), (otherwise) => onChange({ ...rule, otherwise }))}
      </div>
    </>
  );
}

interface PhrasesProps {
  phrases: Record<string, string[]>;
  onChange: (phrases: Record<string, string[]>) => void;
}

/** Phrases as they are typed: a line that is not complete yet stays as it is, as long as the lines say no other phrases. */
function Phrases({ phrases, onChange }: PhrasesProps) {
  const [lines, setLines] = useState('');
  const isSame = JSON.stringify(phrasesOf(lines)) === JSON.stringify(phrases);
  return (
    <textarea
      className="input"
      value={isSame ? lines : phraseLines(phrases)}
      onChange={({ target }) => {
        setLines(target.value);
        onChange(phrasesOf(target.value));
      }}
    />
  );
}
