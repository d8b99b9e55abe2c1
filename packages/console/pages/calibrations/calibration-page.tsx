import './calibrations.css';
import { getRouteApi, Link } from '@tanstack/react-router';
import { api, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { useSession } from '../../session/session.ts';
import { useAction } from '../../widgets/actions.tsx';
import { Button } from '../../widgets/controls.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { type Columns, Table } from '../../widgets/list.tsx';
import { Card, PageHead, useTitle, LoadingOrFailed, Crumbs } from '../../widgets/page.tsx';
import { usePersonName } from '../../widgets/people.ts';
import { CallLink } from '../calls/call-list.tsx';
import { calibrationTexts } from '../texts.ts';
import {
  type Agreement,
  type Calibration,
  CALIBRATIONS,
  nextToAnswer,
  useCallNames,
  useCalibration,
} from './use-calibrations.ts';

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

const share = (value: number | null) => (value === null ? '–' : format.percent(value));

/** How far people agree: by question with all their answers, by person, and by call. */
function Results({ calibration, agreement }: { calibration: Calibration; agreement: Agreement }) {
  const t = calibrationTexts.use();
  const nameOf = usePersonName();
  const { name, calls, users } = calibration;
  const callName = useCallNames(calibration);
  const figures = <Item extends { n: number; agreement: number | null }>({ number }: Columns<Item>) => [
    number(t('answers'), ({ n }) => format.number(n)),
    number(t('agreed'), (each) => share(each.agreement)),
  ];
  return (
    <>
      <PageHead title={name}>
        <p className="muted">
          {t('resultOf', {
            n: calls.length,
            calls: format.number(calls.length),
            people: users.map(nameOf).join(', '),
          })}
        </p>
      </PageHead>
      <Card title={t('byQuestion')} isRegion={false}>
        <p className="muted calibrations-about">{t('kappaText')}</p>
        <Table
          label={t('byQuestion')}
          items={agreement.questions.toSorted(lowestFirst)}
          keyOf={({ uuid }) => uuid}
          columns={(of) => [
            of.name(t('question'), ({ text }) => text ?? t('question')),
            ...figures(of),
            of.number(t('kappa'), ({ kappa }) => (kappa === null ? '–' : format.number(kappa, 2, 2))),
            of.plain(t('strength'), ({ kappa }) => t(`strength.${strengthOf(kappa)}`)),
          ]}
          details={({ uuid }) => <Answers {...{ calibration, question: uuid, callName }} />}
        />
      </Card>
      <div className="columns">
        <Card title={t('byPerson')} isRegion={false}>
          <Table
            label={t('byPerson')}
            items={agreement.people.toSorted(lowestFirst)}
            keyOf={({ user_uuid }) => user_uuid}
            columns={(of) => [of.name(t('person'), ({ user_uuid }) => nameOf(user_uuid)), ...figures(of)]}
          />
        </Card>
        <Card title={t('byCall')} isRegion={false}>
          <Table
            label={t('byCall')}
            items={agreement.calls.toSorted(lowestFirst)}
            keyOf={({ call_uuid }) => call_uuid}
            columns={(of) => [of.name(t('call'), linkIn(name, calls, callName)), ...figures(of)]}
          />
        </Card>
      </div>
    </>
  );
}

interface Called {
  readonly call_uuid: string;
}

/** The name of a call of these, which opens it at the question. */
function linkIn(title: string, calls: readonly Called[], callName: (uuid: string) => string, question?: string) {
  const list = { title, uuids: calls.map(({ call_uuid }) => call_uuid) };
  return ({ call_uuid }: Called) => (
    <CallLink uuid={call_uuid} list={list} question={question}>
      {callName(call_uuid)}
    </CallLink>
  );
}

interface AnswersProps {
  readonly calibration: Calibration;
  readonly question: string;
  readonly callName: (uuid: string) => string;
}

/** What each person answered in each call. */
function Answers({ calibration: { name: title, calls, users }, question, callName }: AnswersProps) {
  const t = calibrationTexts.use();
  const nameOf = usePersonName();
  const answerOf = ({ answers }: Calibration['calls'][number], user: string) => {
    const given = answers.find(({ user_uuid }) => user_uuid === user)?.answers;
    return given?.find(({ question_uuid }) => question_uuid === question)?.answer;
  };
  const asked = calls.filter((call) => users.some((user) => answerOf(call, user) !== undefined));
  const isSplit = (call: Calibration['calls'][number]) =>
    new Set(users.map((user) => answerOf(call, user)).filter((answer) => answer !== undefined)).size > 1;
  return (
    <Table
      label={t('allAnswers')}
      items={asked}
      keyOf={({ call_uuid }) => call_uuid}
      columns={({ name, text }) => [
        name(t('call'), linkIn(title, asked, callName, question)),
        ...users.map((user) =>
          text(nameOf(user), (call) => {
            const answer = answerOf(call, user);
            const said = answer === undefined ? '–' : (answer ?? t('notApplicable'));
            return isSplit(call) ? <mark>{said}</mark> : said;
          }),
        ),
      ]}
    />
  );
}

function lowestFirst(one: { agreement: number | null }, other: { agreement: number | null }): number {
  return (one.agreement ?? 2) - (other.agreement ?? 2);
}

/** After Landis and Koch (1977). */
const STEPS = [
  [0, 'none'],
  [0.2, 'slight'],
  [0.4, 'fair'],
  [0.6, 'moderate'],
  [0.8, 'substantial'],
] as const;

/** What a kappa means, in words. */
function strengthOf(kappa: number | null) {
  if (kappa === null) return 'unknown';
  return STEPS.find(([upTo]) => kappa <= upTo)?.[1] ?? 'almost';
}
