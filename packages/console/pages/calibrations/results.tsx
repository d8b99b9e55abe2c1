import { Link } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { usePersonName } from '../../api/people.ts';
import * as format from '../../i18n/format.ts';
import { Table, TableFrame } from '../../widgets/table.tsx';
import { openFromList } from '../call/list/call-list.ts';
import { useCallNames } from './call-names.ts';
import { strengthOf } from './kappa.ts';
import { calibrationTexts } from './texts.ts';
import type { Agreement, Calibration } from './use-calibrations.ts';

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
  const callName = useCallNames(calls);
  const uuids = calls.map(({ call_uuid }) => call_uuid);
  return (
    <>
      <div className="page-head">
        <h1 className="foreign">{name}</h1>
        <p className="muted">
          {t('resultOf', {
            n: calls.length,
            calls: format.number(calls.length),
            people: users.map(nameOf).join(', '),
          })}
        </p>
      </div>
      <section className="card card-body calibrations-part">
        <h2>{t('byQuestion')}</h2>
        <p className="muted calibrations-about">{t('kappaText')}</p>
        <Questions {...{ calibration, agreement, callName }} />
      </section>
      <div className="calibrations-columns">
        <section className="card card-body calibrations-part">
          <h2>{t('byPerson')}</h2>
          <Table
            label={t('byPerson')}
            className="scroll-x"
            items={agreement.people.toSorted(lowestFirst)}
            keyOf={({ user_uuid }) => user_uuid}
            columns={[
              { title: t('person'), kind: 'name', className: 'foreign', cell: ({ user_uuid }) => nameOf(user_uuid) },
              { title: t('answers'), kind: 'number', cell: ({ n }) => format.number(n) },
              { title: t('agreed'), kind: 'number', cell: (each) => share(each.agreement) },
            ]}
          />
        </section>
        <section className="card card-body calibrations-part">
          <h2>{t('byCall')}</h2>
          <Table
            label={t('byCall')}
            className="scroll-x"
            items={agreement.calls.toSorted(lowestFirst)}
            keyOf={({ call_uuid }) => call_uuid}
            columns={[
              {
                title: t('call'),
                kind: 'name',
                className: 'foreign',
                cell: ({ call_uuid }) => (
                  <Link
                    to="/calls/$uuid"
                    params={{ uuid: call_uuid }}
                    onClick={() => openFromList({ title: name, uuids, opened: call_uuid })}
                  >
                    {callName(call_uuid)}
                  </Link>
                ),
              },
              { title: t('answers'), kind: 'number', cell: ({ n }) => format.number(n) },
              { title: t('agreed'), kind: 'number', cell: (each) => share(each.agreement) },
            ]}
          />
        </section>
      </div>
    </>
  );
}

interface QuestionsProps extends Props {
  readonly callName: (uuid: string) => string;
}

function Questions({ calibration, agreement, callName }: QuestionsProps) {
  const t = calibrationTexts.use();
  const [open, setOpen] = useState<string | null>(null);
  return (
    <TableFrame
      label={t('byQuestion')}
      heads={[
        { title: t('question') },
        { title: t('answers'), kind: 'number' },
        { title: t('agreed'), kind: 'number' },
        { title: t('kappa'), kind: 'number' },
        { title: t('strength') },
      ]}
    >
      <tbody role="rowgroup">
        {agreement.questions.toSorted(lowestFirst).map(({ uuid, text, n, agreement: agreed, kappa }) => (
          <Fragment key={uuid}>
            <tr role="row">
              <th role="rowheader" scope="row">
                <button
                  type="button"
                  className="calibrations-link foreign"
                  aria-expanded={open === uuid}
                  onClick={() => setOpen(open === uuid ? null : uuid)}
                >
                  {text ?? t('question')}
                </button>
              </th>
              <td role="cell" className="number" data-column={t('answers')}>
                {format.number(n)}
              </td>
              <td role="cell" className="number" data-column={t('agreed')}>
                {share(agreed)}
              </td>
              <td role="cell" className="number" data-column={t('kappa')}>
                {kappa === null ? '–' : format.number(kappa, 2, 2)}
              </td>
              <td role="cell" data-column={t('strength')}>
                {kappa === null ? t('strength.unknown') : t(`strength.${strengthOf(kappa)}`)}
              </td>
            </tr>
            {open === uuid && (
              <tr role="row">
                <td role="cell" colSpan={5}>
                  <Answers {...{ calibration, question: uuid, callName }} />
                </td>
              </tr>
            )}
          </Fragment>
        ))}
      </tbody>
    </TableFrame>
  );
}

interface AnswersProps extends Pick<QuestionsProps, 'calibration' | 'callName'> {
  readonly question: string;
}

/** What each person answered in each call. The call opens at the question. */
function Answers({ calibration: { name, calls, users }, question, callName }: AnswersProps) {
  const t = calibrationTexts.use();
  const nameOf = usePersonName();
  const answerOf = ({ answers }: Calibration['calls'][number], user: string) => {
    const given = answers.find(({ user_uuid }) => user_uuid === user)?.answers;
    const answer = given?.find(({ question_uuid }) => question_uuid === question);
    return answer === undefined ? undefined : answer.answer;
  };
  const asked = calls.filter((call) => users.some((user) => answerOf(call, user) !== undefined));
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label={t('allAnswers')}>
      <table className="table calibrations-answers">
        <caption className="visually-hidden">{t('allAnswers')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('call')}</th>
            {users.map((user) => (
              <th key={user} scope="col" className="foreign">
                {nameOf(user)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {asked.map((call) => {
            const given = users.map((user) => answerOf(call, user));
            const isSplit = new Set(given.filter((answer) => answer !== undefined)).size > 1;
            return (
              <tr key={call.call_uuid} data-split={isSplit}>
                <th scope="row" className="foreign">
                  <Link
                    to="/calls/$uuid"
                    params={{ uuid: call.call_uuid }}
                    search={{ question }}
                    onClick={() =>
                      openFromList({
                        title: name,
                        uuids: asked.map(({ call_uuid }) => call_uuid),
                        opened: call.call_uuid,
                      })
                    }
                  >
                    {callName(call.call_uuid)}
                  </Link>
                </th>
                {users.map((user, at) => (
                  <td key={user} className="foreign">
                    {given[at] === undefined ? '–' : (given[at] ?? t('notApplicable'))}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function lowestFirst(one: { agreement: number | null }, other: { agreement: number | null }): number {
  return (one.agreement ?? 2) - (other.agreement ?? 2);
}
