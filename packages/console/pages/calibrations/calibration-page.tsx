import './calibrations.css';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { api, send } from '../../api/client.ts';
import { usePersonName } from '../../api/people.ts';
import * as format from '../../i18n/format.ts';
import { useSession } from '../../session/session.ts';
import { Icon } from '../../widgets/icon.tsx';
import { LoadingOrFailed } from '../../widgets/states.tsx';
import { Table } from '../../widgets/table.tsx';
import { failed } from '../../widgets/toasts.tsx';
import { useTitle } from '../../widgets/use-title.ts';
import { useCallNames } from './call-names.ts';
import { Results } from './results.tsx';
import { calibrationTexts } from './texts.ts';
import { type Calibration, CALIBRATIONS, nextToAnswer, useCalibration } from './use-calibrations.ts';

const route = getRouteApi('/calibrations/$uuid');

/** A calibration: while it is open who has answered what, then how far people agree. */
export function CalibrationPage() {
  const t = calibrationTexts.use();
  const { uuid } = route.useParams();
  const calibration = useCalibration(uuid);
  const { data } = calibration;
  useTitle(data?.name ?? t('title'));
  return (
    <div className="page calibrations">
      <nav className="crumbs calibrations-path" aria-label={t('path')}>
        <Icon name="left" size={12} />
        <Link to="/calibrations">{t('title')}</Link>
      </nav>
      {data === undefined ? (
        <LoadingOrFailed query={calibration} />
      ) : data.agreement === null ? (
        <Progress calibration={data} />
      ) : (
        <Results calibration={data} agreement={data.agreement} />
      )}
    </div>
  );
}

function Progress({ calibration }: { calibration: Calibration }) {
  const t = calibrationTexts.use();
  const nameOf = usePersonName();
  const client = useQueryClient();
  const { userUuid, role } = useSession();
  const { uuid, name, due, users, calls } = calibration;
  const callName = useCallNames(calls);
  const isInvited = users.includes(userUuid);
  const next = nextToAnswer(calibration, userUuid);
  const isBegun = calls.some(({ answered_by }) => answered_by.includes(userUuid));
  const close = useMutation({
    mutationFn: () => send(api.POST('/api/v1/calibrations/{uuid}/close', { params: { path: { uuid } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: CALIBRATIONS }),
    onError: failed,
  });
  return (
    <>
      <div className="page-head">
        <h1 className="foreign">{name}</h1>
        {due !== null && <p className="muted">{t('dueAt', { at: format.shortDateTime(due) })}</p>}
        <div className="actions">
          {role === 'ADMIN' && (
            <button type="button" className="button" disabled={close.isPending} onClick={() => close.mutate()}>
              {t('close')}
            </button>
          )}
          {isInvited && next !== undefined && (
            <Link to="/calibrations/$uuid/calls/$call" params={{ uuid, call: next }} className="button button-primary">
              {t(isBegun ? 'continue' : 'begin')}
            </Link>
          )}
        </div>
      </div>
      <p className="muted calibrations-about">{t(isInvited && next === undefined ? 'waiting' : 'blind')}</p>
      <Table
        label={t('progress')}
        className="table-frame calibrations-table"
        items={users}
        keyOf={(user) => user}
        columns={[
          { title: t('person'), kind: 'name', className: 'foreign', cell: nameOf },
          {
            title: t('answered'),
            cell: (user) => {
              const answered = calls.filter(({ answered_by }) => answered_by.includes(user)).length;
              return (
                <span className="calibrations-progress">
                  <progress max={calls.length} value={answered} aria-label={t('answered')} />
                  <span className="number">
                    {t('callsAnswered', { count: format.number(answered), of: format.number(calls.length) })}
                  </span>
                </span>
              );
            },
          },
        ]}
      />
      {isInvited && (
        <section className="card card-body" aria-label={t('yourCalls')}>
          <h2>{t('yourCalls')}</h2>
          <ul className="calibrations-list">
            {calls.map(({ call_uuid, answered_by }) => (
              <li key={call_uuid}>
                <Link to="/calibrations/$uuid/calls/$call" params={{ uuid, call: call_uuid }} className="foreign">
                  {callName(call_uuid)}
                </Link>
                {answered_by.includes(userUuid) && (
                  <span className="badge badge-good">
                    <Icon name="check" size={11} />
                    {t('done')}
                  </span>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
