import './comparison.css';
import { type ReactNode, useId } from 'react';
import { Field, SelectField, TextField } from '../../widgets/controls.tsx';
import { useTyped } from '../../widgets/use-typed.ts';
import { useNames } from '../calls/filters/filters.ts';
import { named, useStatistics } from '../dashboard/use-statistics.ts';
import { comparisonTexts } from '../texts.ts';
import { type Scope, SCOPE } from './scope.ts';

interface Props {
  readonly label: string;
  readonly scope: Scope;
  readonly onChange: (scope: Scope) => void;
  readonly fields?: readonly (keyof Scope)[];
  /** After the fields. */
  readonly children?: ReactNode;
}

const GROUPINGS = { operator: 'operator_name', group: 'operator_group_name', segment: 'segment_type' } as const;

const REVISION = /^[1-9]\d{0,8}$/;

/** Chooses operator, group, segment type, scorecard and days. What is left empty is any. */
export function ScopeForm({ label, scope, onChange, fields = SCOPE, children }: Props) {
  const t = comparisonTexts.use();
  const cards = useNames(fields.includes('card') ? 'scorecard' : undefined);
  const change = (name: keyof Scope, value: string) => {
    const { [name]: _, ...others } = scope;
    onChange(value === '' ? others : { ...others, [name]: value });
  };
  return (
    <div className="scope" role="group" aria-label={label}>
      {(['operator', 'group', 'segment'] as const)
        .filter((name) => fields.includes(name))
        .map((name) => (
          <Field key={name} label={t(`scope.${name}`)}>
            <Names of={name} value={scope[name] ?? ''} onChange={(value) => change(name, value)} />
          </Field>
        ))}
      {fields.includes('card') && cards.size > 0 && (
        <SelectField
          label={t('scope.card')}
          options={['', ...cards.keys()]}
          nameOf={(uuid) => cards.get(uuid) ?? t('scope.any')}
          value={scope.card ?? ''}
          onChoose={(uuid) => change('card', uuid)}
        />
      )}
      {fields.includes('revision') && scope.card !== undefined && (
        <TextField
          key={scope.revision}
          label={t('scope.revision')}
          type="number"
          min={1}
          placeholder={t('scope.any')}
          defaultValue={scope.revision}
          onBlur={({ target }) => change('revision', REVISION.test(target.value) ? target.value : '')}
        />
      )}
      <div className="scope-days">
        {(['from', 'to'] as const).map((name) => (
          <TextField
            key={name}
            label={t(`scope.${name}`)}
            type="date"
            value={scope[name] ?? ''}
            max={name === 'from' ? scope.to : undefined}
            min={name === 'to' ? scope.from : undefined}
            onText={(text) => change(name, text)}
          />
        ))}
      </div>
      {children}
    </div>
  );
}

interface NamesProps {
  readonly of: keyof typeof GROUPINGS;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** The names that calls have, offered while one is typed. A name counts once it is left or chosen. */
function Names({ of, value, onChange }: NamesProps) {
  const t = comparisonTexts.use();
  const id = useId();
  const { typed, setTyped, send } = useTyped(value, onChange);
  const { data } = useStatistics({ group_by: GROUPINGS[of], limit: 1000 });
  const names = named(data).map(({ key, label }) => label ?? key);
  return (
    <>
      <input
        className="input"
        list={id}
        value={typed}
        placeholder={t('scope.any')}
        onChange={({ target }) => {
          setTyped(target.value);
          if (target.value === '' || names.includes(target.value)) send(target.value);
        }}
        onBlur={() => {
          if (typed === value) return;
          setTyped(typed.trim());
          send(typed.trim());
        }}
      />
      <datalist id={id}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
