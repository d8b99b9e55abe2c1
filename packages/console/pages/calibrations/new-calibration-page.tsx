import './calibrations.css';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type SyntheticEvent, useState } from 'react';
import { api, send } from '../../api/client.ts';
import { usePeople } from '../../api/people.ts';
import { shellTexts } from '../../app/shell-texts.ts';
import { useDraft } from '../../drafts/drafts.ts';
import * as format from '../../i18n/format.ts';
import { instantOf } from '../../i18n/zone/days.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { may } from '../../session/rights.ts';
import { Score } from '../../widgets/call-facts.tsx';
import { Field } from '../../widgets/field.tsx';
import { LoadingOrFailed } from '../../widgets/states.tsx';
import { failed } from '../../widgets/toasts.tsx';
import { useTitle } from '../../widgets/use-title.ts';
import { calibrationTexts } from './texts.ts';
import { CALIBRATIONS } from './use-calibrations.ts';

const route = getRouteApi('/calibrations/new');

/** As many as the service takes. */
const MOST_CALLS = 100;
const OFFERED = 30;

interface Form {
  readonly name: string;
  readonly due: string;
  readonly calls: readonly string[];
  readonly people: readonly string[];
}

/** Starts a calibration: its calls, its people, and until when. */
export function NewCalibrationPage() {
  const t = calibrationTexts.use();
  const shell = shellTexts.use();
  useTitle(t('create'));
  const { calls: chosen = [] } = route.useSearch();
  const client = useQueryClient();
  const navigate = useNavigate();
  const people = usePeople().filter(({ role }) => may(role, 'review'));
  const saved: Form = { name: '', due: '', calls: chosen, people: [] };
  const { value: form, set, discard } = useDraft('calibration new', saved);
  const start = useMutation({
    mutationFn: () =>
      send(
        api.POST('/api/v1/calibrations', {
          body: {
            name: form.name.trim(),
            call_uuids: [...form.calls],
            user_uuids: [...form.people],
            // A day ends with its last minute, in the zone of all times that are shown.
            ...(form.due !== '' && { due: instantOf(`${form.due}T23:59`, timeZone()) }),
          },
        }),
      ),
    onSuccess: async ({ uuid }) => {
      discard();
      await client.invalidateQueries({ queryKey: CALIBRATIONS });
      await navigate({ to: '/calibrations/$uuid', params: { uuid } });
    },
    onError: failed,
  });
  const isReady =
    form.name.trim() !== '' && form.calls.length > 0 && form.calls.length <= MOST_CALLS && form.people.length > 1;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (isReady && !start.isPending) start.mutate();
  };
  return (
    <form className="page calibrations" onSubmit={submit}>
      <div className="page-head">
        <h1>{t('create')}</h1>
      </div>
      <div className="card card-body calibrations-form">
        <Field label={t('name')}>
          <input
            className="input"
            required
            maxLength={255}
            value={form.name}
            onChange={({ target }) => set({ ...form, name: target.value })}
          />
        </Field>
        <Field label={t('until')}>
          <input
            className="input"
            type="date"
            value={form.due}
            onChange={({ target }) => set({ ...form, due: target.value })}
          />
        </Field>
        <fieldset className="calibrations-choice">
          <legend>{t('peopleOf', { n: form.people.length, count: format.number(form.people.length) })}</legend>
          {people.map(({ uuid, name }) => (
            <label key={uuid} className="check">
              <input
                type="checkbox"
                checked={form.people.includes(uuid)}
                onChange={() => set({ ...form, people: toggled(form.people, uuid) })}
              />
              <span className="foreign">{name}</span>
            </label>
          ))}
        </fieldset>
        <CallChoice calls={form.calls} onChange={(calls) => set({ ...form, calls })} />
      </div>
      <div className="calibrations-actions">
        <Link to="/calibrations" className="button">
          {shell('cancel')}
        </Link>
        <button type="submit" className="button button-primary" disabled={!isReady || start.isPending}>
          {t('start')}
        </button>
        {!isReady && <p className="muted">{t('needs')}</p>}
      </div>
    </form>
  );
}

interface ChoiceProps {
  readonly calls: readonly string[];
  readonly onChange: (calls: readonly string[]) => void;
}

/** Completed calls, the newest first, of an operator if one is named. Chosen ones stay when others are looked for. */
function CallChoice({ calls, onChange }: ChoiceProps) {
  const t = calibrationTexts.use();
  const [operator, setOperator] = useState('');
  const named = operator.trim();
  const found = useQuery({
    queryKey: ['calls', 'to calibrate', named],
    queryFn: ({ signal }) =>
      send(
        api.GET('/api/v1/calls', {
          params: {
            query: {
              status: ['completed'],
              outcome: ['scored'],
              sort: '-start_time',
              size: OFFERED,
              ...(named !== '' && { operator_name: named }),
            },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
  const offered = found.data?.items ?? [];
  const others = calls.filter((uuid) => !offered.some((call) => call.uuid === uuid)).length;
  return (
    <fieldset className="calibrations-choice">
      <legend>{t('callsOf', { n: calls.length, count: format.number(calls.length) })}</legend>
      <Field label={t('operator')}>
        <input className="input" type="search" value={operator} onChange={({ target }) => setOperator(target.value)} />
      </Field>
      <LoadingOrFailed query={found} />
      {found.isSuccess && offered.length === 0 && <p className="muted">{t('noCalls')}</p>}
      <div className="calibrations-calls">
        {offered.map((call) => (
          <label key={call.uuid} className="check">
            <input
              type="checkbox"
              checked={calls.includes(call.uuid)}
              onChange={() => onChange(toggled(calls, call.uuid))}
            />
            <span className="foreign">{call.operator_name}</span>
            <span className="muted number">{format.shortDateTime(call.start_time)}</span>
            <Score value={call.score} />
          </label>
        ))}
      </div>
      {others > 0 && <p className="muted">{t('others', { n: others, count: format.number(others) })}</p>}
    </fieldset>
  );
}

function toggled(list: readonly string[], item: string): readonly string[] {
  return list.includes(item) ? list.filter((each) => each !== item) : [...list, item];
}
