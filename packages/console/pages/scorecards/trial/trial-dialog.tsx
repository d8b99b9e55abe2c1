import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Schemas, send } from '../../../api/client.ts';
import * as format from '../../../i18n/format.ts';
import { Score } from '../../../widgets/call-facts.tsx';
import { Dialog, DialogActions } from '../../../widgets/dialog.tsx';
import { Fault } from '../../../widgets/fault.tsx';
import { Field } from '../../../widgets/field.tsx';
import { LoadingOrFailed } from '../../../widgets/states.tsx';
import { type Section, type Scorecard } from '../draft.ts';
import { scorecardsTexts } from '../texts.ts';
import { TrialResult } from './trial-result.tsx';

interface Props {
  readonly scorecard: Scorecard;
  readonly draft: { readonly name: string; readonly sections: readonly Section[] };
  readonly onClose: () => void;
}

const MOST = 10;
const OFFERED = 50;

/** Tries the scorecard as it is being edited on some calls. Nothing is stored. */
export function TrialDialog({ scorecard, draft, onClose }: Props) {
  const t = scorecardsTexts.use();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const trial = useMutation({
    mutationFn: () => {
      const body = {
        call_uuids: [...chosen],
        draft: { name: draft.name, segment_type: scorecard.segment_type, sections: [...draft.sections] },
      };
      return send(
        api.POST('/api/v1/scorecards/{uuid}/try', { params: { path: { uuid: scorecard.uuid } }, body }),
      ) as Promise<Schemas['ScorecardTrial']>;
    },
  });
  return (
    <Dialog title={t('trial')} isWide onClose={onClose}>
      {trial.data === undefined ? (
        <>
          <p className="muted">{t('trial.about', { most: format.number(MOST) })}</p>
          <Choice scorecard={scorecard} chosen={chosen} onChange={setChosen} />
          {trial.isError && <Fault error={trial.error} />}
        </>
      ) : (
        <TrialResult items={trial.data.items} />
      )}
      <DialogActions onClose={onClose} leave="close">
        {trial.data === undefined ? (
          <button
            type="button"
            className="button button-primary"
            disabled={chosen.size === 0 || trial.isPending}
            onClick={() => trial.mutate()}
          >
            {t(trial.isPending ? 'trial.running' : 'trial.run', { n: chosen.size, count: format.number(chosen.size) })}
          </button>
        ) : (
          <button type="button" className="button" onClick={() => trial.reset()}>
            {t('trial.others')}
          </button>
        )}
      </DialogActions>
    </Dialog>
  );
}

interface ChoiceProps {
  readonly scorecard: Scorecard;
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}

/** The newest calls that the scorecard could score. */
function Choice({ scorecard: { segment_type }, chosen, onChange }: ChoiceProps) {
  const t = scorecardsTexts.use();
  const [operator, setOperator] = useState('');
  const calls = useQuery({
    queryKey: ['calls', 'trial', segment_type, operator],
    queryFn: ({ signal }) => {
      const query = {
        outcome: ['scored' as const],
        sort: '-start_time' as const,
        size: OFFERED,
        ...(segment_type !== null && { segment_type: [segment_type] }),
        ...(operator !== '' && { operator_name: operator }),
      };
      return send(api.GET('/api/v1/calls', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
  if (calls.data === undefined) return <LoadingOrFailed query={calls} />;
  const operators = [...new Set(calls.data.items.map(({ operator_name }) => operator_name))].sort();
  const toggle = (uuid: string) => {
    const next = new Set(chosen);
    if (!next.delete(uuid)) next.add(uuid);
    onChange(next);
  };
  return (
    <>
      <div className="scorecards-row">
        <Field label={t('trial.operator')}>
          <select className="input" value={operator} onChange={({ target }) => setOperator(target.value)}>
            <option value="">{t('trial.anyOperator')}</option>
            {(operator === '' ? operators : [operator]).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </Field>
        <button
          type="button"
          className="button"
          onClick={() => onChange(new Set(calls.data.items.slice(0, MOST).map(({ uuid }) => uuid)))}
        >
          {t('trial.newest', { most: format.number(MOST) })}
        </button>
      </div>
      {calls.data.items.length === 0 && <p className="muted">{t('trial.noCalls')}</p>}
      <ul className="scorecards-calls" tabIndex={0} aria-label={t('trial.calls')}>
        {calls.data.items.map((call) => (
          <li key={call.uuid}>
            <label className="check">
              <input
                type="checkbox"
                checked={chosen.has(call.uuid)}
                disabled={!chosen.has(call.uuid) && chosen.size >= MOST}
                onChange={() => toggle(call.uuid)}
              />
              <span className="foreign scorecards-caller">{call.operator_name}</span>
              <span className="muted number">{format.dateTime(call.start_time)}</span>
              <Score value={call.score} />
            </label>
          </li>
        ))}
      </ul>
    </>
  );
}
