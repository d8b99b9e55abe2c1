import './calibrations.css';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { api, send } from '../../api/client.ts';
import { useDraft } from '../../drafts/drafts.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { endOfDay } from '../../i18n/zone/days.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { may } from '../../session/session.ts';
import { useAction } from '../../widgets/actions.tsx';
import { Button, Check, TextField, Form } from '../../widgets/controls.tsx';
import { PageHead, useTitle } from '../../widgets/page.tsx';
import { usePeople } from '../../widgets/people.ts';
import { CallChoice, toggled } from '../calls/call-choice.tsx';
import { calibrationTexts } from '../texts.ts';
import { CALIBRATIONS } from './use-calibrations.ts';

const route = getRouteApi('/calibrations/new');

/** As many as the service takes. */
const MOST_CALLS = 100;

/** Starts a calibration: its calls, its people, and until when. */
export default function NewCalibrationPage() {
  const t = calibrationTexts.use();
  const shell = shellTexts.use();
  useTitle(t('create'));
  const { calls: chosen = [] } = route.useSearch();
  const navigate = useNavigate();
  const people = usePeople().filter(({ role }) => may(role, 'review'));
  const empty = { name: '', due: '', calls: chosen as readonly string[], people: [] as readonly string[] };
  const { value: form, set, discard } = useDraft('calibration new', empty);
  const start = useAction(
    () =>
      send(
        api.POST('/api/v1/calibrations', {
          body: {
            name: form.name.trim(),
            call_uuids: [...form.calls],
            user_uuids: [...form.people],
            ...(form.due !== '' && { due: endOfDay(form.due, timeZone()) }),
          },
        }),
      ),
    {
      changes: [CALIBRATIONS],
      onDone: ({ uuid }) => {
        discard();
        return navigate({ to: '/calibrations/$uuid', params: { uuid } });
      },
    },
  );
  const isReady =
    form.name.trim() !== '' && form.calls.length > 0 && form.calls.length <= MOST_CALLS && form.people.length > 1;
  return (
    <Form className="page calibrations" onSend={() => isReady && !start.isPending && start.mutate()}>
      <PageHead title={t('create')} />
      <div className="card card-body stack calibrations-form">
        <TextField
          label={t('name')}
          required
          maxLength={255}
          value={form.name}
          onText={(text) => set({ ...form, name: text })}
        />
        <TextField label={t('until')} type="date" value={form.due} onText={(text) => set({ ...form, due: text })} />
        <fieldset className="group">
          <legend>{t('peopleOf', { n: form.people.length, count: format.number(form.people.length) })}</legend>
          {people.map(({ uuid, name }) => (
            <Check
              key={uuid}
              checked={form.people.includes(uuid)}
              onChange={() => set({ ...form, people: toggled(form.people, uuid) })}
            >
              <span className="foreign">{name}</span>
            </Check>
          ))}
        </fieldset>
        <fieldset className="group">
          <legend>{t('callsOf', { n: form.calls.length, count: format.number(form.calls.length) })}</legend>
          <CallChoice chosen={form.calls} most={MOST_CALLS} onChange={(calls) => set({ ...form, calls })} />
        </fieldset>
      </div>
      <div className="row">
        <Link to="/calibrations" className="button">
          {shell('cancel')}
        </Link>
        <Button kind="primary" isSubmit disabled={!isReady || start.isPending}>
          {t('start')}
        </Button>
        {!isReady && <p className="muted">{t('needs')}</p>}
      </div>
    </Form>
  );
}
