import './comparison.css';
import { useId } from 'react';
import { Field, TextField } from '../../widgets/controls.tsx';
import { useStatistics } from '../dashboard/use-statistics.ts';
import type { Scope } from './scope-fields.ts';
import { comparisonTexts } from './texts.ts';

interface Props {
  readonly label: string;
  readonly scope: Scope;
  readonly onChange: (scope: Scope) => void;
  readonly fields?: readonly (keyof Scope)[];
}

const ALL: readonly (keyof Scope)[] = ['operator', 'group', 'segment', 'from', 'to'];
const GROUPINGS = { operator: 'operator_name', group: 'operator_group_name', segment: 'segment_type' } as const;

/** Chooses operator, group, segment type and days. What is left empty is any. */
export function ScopeForm({ label, scope, onChange, fields = ALL }: Props) {
  const t = comparisonTexts.use();
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
      {(['from', 'to'] as const)
        .filter((name) => fields.includes(name))
        .map((name) => (
          <TextField
            key={name}
            label={t(`scope.${name}`)}
            type="date"
            value={scope[name] ?? ''}
            max={name === 'from' ? scope.to : undefined}
            min={name === 'to' ? scope.from : undefined}
            onChange={({ target }) => change(name, target.value)}
          />
        ))}
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
  const { data } = useStatistics({ group_by: GROUPINGS[of], limit: 1000 });
  const names = (data?.items ?? []).flatMap(({ key, label }) => (key === null ? [] : [label ?? key]));
  return (
    <>
      <input
        key={value}
        className="input"
        list={id}
        defaultValue={value}
        placeholder={t('scope.any')}
        onChange={({ target }) => {
          if (target.value === '' || names.includes(target.value)) onChange(target.value);
        }}
        onBlur={({ target }) => {
          if (target.value !== value) onChange(target.value.trim());
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
