import { Link } from '@tanstack/react-router';
import * as format from '../../i18n/format.ts';
import { type Column, Table } from '../../widgets/list.tsx';
import { Card, PageHead } from '../../widgets/page.tsx';
import { usePersonName } from '../../widgets/people.ts';
import { openFromList } from '../calls/call-list.ts';
import { calibrationTexts } from '../texts.ts';
import { type Agreement, type Calibration, useCallNames } from './use-calibrations.ts';

interface Props {
  readonly calibration: Calibration;
  readonly agreement: Agreement;
}

const share = (value: number | null) => (value === null ? '–' : format.percent(value));

/** How far people agree: by question with all their answers, by person, and by call. */
export function Results({ calibration, agreement }: Props) {
  const t = calibrationTexts.use();
  const nameOf = usePersonName();
  const { name, calls, users } = calibration;
  const callName = useCallNames(calibration);
  const uuids = calls.map(({ call_uuid }) => call_uuid);
  const figures: readonly Column<{ n: number; agreement: number | null }>[] = [
    { title: t('answers'), kind: 'number', cell: ({ n }) => format.number(n) },
    { title: t('agreed'), kind: 'number', cell: (each) => share(each.agreement) },
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
          className="scroll-x"
          items={agreement.questions.toSorted(lowestFirst)}
          keyOf={({ uuid }) => uuid}
          columns={[
            { title: t('question'), kind: 'name', className: 'foreign', cell: ({ text }) => text ?? t('question') },
            ...figures,
            {
              title: t('kappa'),
              kind: 'number',
              cell: ({ kappa }) => (kappa === null ? '–' : format.number(kappa, 2, 2)),
            },
            { title: t('strength'), cell: ({ kappa }) => t(`strength.${strengthOf(kappa)}`) },
          ]}
          details={({ uuid }) => <Answers {...{ calibration, question: uuid, callName }} />}
        />
      </Card>
      <div className="columns">
        <Card title={t('byPerson')} isRegion={false}>
          <Table
            label={t('byPerson')}
            className="scroll-x"
            items={agreement.people.toSorted(lowestFirst)}
            keyOf={({ user_uuid }) => user_uuid}
            columns={[
              { title: t('person'), kind: 'name', className: 'foreign', cell: ({ user_uuid }) => nameOf(user_uuid) },
              ...figures,
            ]}
          />
        </Card>
        <Card title={t('byCall')} isRegion={false}>
          <Table
            label={t('byCall')}
            className="scroll-x"
            items={agreement.calls.toSorted(lowestFirst)}
            keyOf={({ call_uuid }) => call_uuid}
            columns={[callColumn(t('call'), { title: name, uuids, callName }), ...figures]}
          />
        </Card>
      </div>
    </>
  );
}

interface Calls {
  /** Of the list that the next and the previous call are found in. */
  readonly title: string;
  readonly uuids: readonly string[];
  readonly callName: (uuid: string) => string;
  /** The question at which a call opens. */
  readonly question?: string;
}

/** The names of calls, which open them. */
function callColumn(heading: string, { title, uuids, callName, question }: Calls): Column<{ call_uuid: string }> {
  return {
    title: heading,
    kind: 'name',
    className: 'foreign',
    cell: ({ call_uuid }) => (
      <Link
        to="/calls/$uuid"
        params={{ uuid: call_uuid }}
        search={question === undefined ? {} : { question }}
        onClick={() => openFromList({ title, uuids, opened: call_uuid })}
      >
        {callName(call_uuid)}
      </Link>
    ),
  };
}

interface AnswersProps {
  readonly calibration: Calibration;
  readonly question: string;
  readonly callName: (uuid: string) => string;
}

/** What each person answered in each call. The call opens at the question. */
function Answers({ calibration: { name, calls, users }, question, callName }: AnswersProps) {
  const t = calibrationTexts.use();
  const nameOf = usePersonName();
  const answerOf = ({ answers }: Calibration['calls'][number], user: string) => {
    const given = answers.find(({ user_uuid }) => user_uuid === user)?.answers;
    return given?.find(({ question_uuid }) => question_uuid === question)?.answer;
  };
  const asked = calls.filter((call) => users.some((user) => answerOf(call, user) !== undefined));
  const uuids = asked.map(({ call_uuid }) => call_uuid);
  const isSplit = (call: Calibration['calls'][number]) =>
    new Set(users.map((user) => answerOf(call, user)).filter((answer) => answer !== undefined)).size > 1;
  return (
    <Table
      label={t('allAnswers')}
      className="scroll-x"
      items={asked}
      keyOf={({ call_uuid }) => call_uuid}
      columns={[
        callColumn(t('call'), { title: name, uuids, callName, question }),
        ...users.map((user) => ({
          title: nameOf(user),
          className: 'foreign',
          cell: (call: Calibration['calls'][number]) => {
            const answer = answerOf(call, user);
            const text = answer === undefined ? '–' : (answer ?? t('notApplicable'));
            return isSplit(call) ? <mark>{text}</mark> : text;
          },
        })),
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
