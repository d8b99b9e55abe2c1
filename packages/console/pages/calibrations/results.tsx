import * as format from '../../i18n/format.ts';
import { Table, type Columns } from '../../widgets/list.tsx';
import { Card, PageHead } from '../../widgets/page.tsx';
import { usePersonName } from '../../widgets/people.ts';
import { CallLink } from '../calls/call-list.tsx';
import { calibrationTexts } from '../texts.ts';
import { type Agreement, type Calibration, useCallNames } from './use-calibrations.ts';

const share = (value: number | null) => (value === null ? '–' : format.percent(value));

/** How far people agree: by question with all their answers, by person, and by call. */
export function Results({ calibration, agreement }: { calibration: Calibration; agreement: Agreement }) {
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
