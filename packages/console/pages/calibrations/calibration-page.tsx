import './calibrations.css';
import { getRouteApi, Link } from '@tanstack/react-router';
import { api, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { useSession } from '../../session/session.ts';
import { useAction } from '../../widgets/actions.tsx';
import { Button } from '../../widgets/controls.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { Table } from '../../widgets/list.tsx';
import { Card, PageHead, useTitle, LoadingOrFailed, Crumbs } from '../../widgets/page.tsx';
import { usePersonName } from '../../widgets/people.ts';
import { calibrationTexts } from '../texts.ts';
import { Results } from './results.tsx';
import { type Calibration, CALIBRATIONS, nextToAnswer, useCallNames, useCalibration } from './use-calibrations.ts';

const route = getRouteApi('/calibrations/$uuid');

/** A calibration: while it is open who has answered what, then how far people agree. */
export default function CalibrationPage() {
  const t = calibrationTexts.use();
  const { uuid } = route.useParams();
  const calibration = useCalibration(uuid);
  const { data } = calibration;
  useTitle(data?.name ?? t('title'));
  return (
    <div className="page calibrations">
      <Crumbs>
        <Link to="/calibrations">{t('title')}</Link>
      </Crumbs>
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
  const { userUuid, role } = useSession();
  const { uuid, name, due, users, calls } = calibration;
  const callName = useCallNames(calibration);
  const isInvited = users.includes(userUuid);
  const next = nextToAnswer(calibration, userUuid);
  const isBegun = calls.some(({ answered_by }) => answered_by.includes(userUuid));
  const close = useAction(() => send(api.POST('/api/v1/calibrations/{uuid}/close', { params: { path: { uuid } } })), {
    changes: [CALIBRATIONS],
  });
  return (
    <>
      <PageHead
        title={name}
        actions={
          <>
            {role === 'ADMIN' && (
              <Button disabled={close.isPending} onClick={() => close.mutate()}>
                {t('close')}
              </Button>
            )}
            {isInvited && next !== undefined && (
              <Link
                to="/calibrations/$uuid/calls/$call"
                params={{ uuid, call: next }}
                className="button button-primary"
              >
                {t(isBegun ? 'continue' : 'begin')}
              </Link>
            )}
          </>
        }
      >
        {due !== null && <p className="muted">{t('dueAt', { at: format.shortDateTime(due) })}</p>}
      </PageHead>
      <p className="muted calibrations-about">{t(isInvited && next === undefined ? 'waiting' : 'blind')}</p>
      <Table
        label={t('progress')}
        className="table-frame calibrations-table"
        items={users}
        keyOf={(user) => user}
        columns={({ name: person, plain }) => [
          person(t('person'), nameOf),
          plain(t('answered'), (user) => {
            const answered = calls.filter(({ answered_by }) => answered_by.includes(user)).length;
            return (
              <span className="row">
                <progress max={calls.length} value={answered} aria-label={t('answered')} />
                <span className="number">
                  {t('callsAnswered', { count: format.number(answered), of: format.number(calls.length) })}
                </span>
              </span>
            );
          }),
        ]}
      />
      {isInvited && (
        <Card title={t('yourCalls')}>
          <ul className="stack">
            {calls.map(({ call_uuid, answered_by }) => (
              <li key={call_uuid} className="row">
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
        </Card>
      )}
    </>
  );
}
