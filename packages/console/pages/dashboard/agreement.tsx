import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type Schemas, get } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { Select } from '../../widgets/controls.tsx';
import { Table } from '../../widgets/list.tsx';
import { Card, LoadingOrFailed } from '../../widgets/page.tsx';
import { dashboardTexts } from '../texts.ts';
import { type Compared, ComparedCalls } from './compared-calls.tsx';
import type { Period } from './period.ts';
import { named, useStatistics } from './use-statistics.ts';

const route = getRouteApi('/dashboard');

/** How far people agree with the machine, for each question of a scorecard. Every number opens its calls. */
export function Agreement({ period, tz }: { period: Period; tz: string }) {
  const t = dashboardTexts.use();
  const search = route.useSearch();
  const navigate = useNavigate();
  const scorecards = useStatistics({ group_by: 'scorecard', tz, ...period, limit: 100 });
  const items = named(scorecards.data);
  const scorecard = items.find(({ key }) => key === search.scorecard)?.key ?? items[0]?.key ?? null;
  if (scorecard === null) return null;
  return (
    <Card
      title={t('agreement')}
      head={
        items.length > 1 && (
          <Select
            aria-label={t('scorecard')}
            options={items.map(({ key }) => key)}
            nameOf={(key) => items.find((each) => each.key === key)?.label ?? key}
            value={scorecard}
            onChoose={(chosen) =>
              void navigate({ to: '/dashboard', search: { ...search, scorecard: chosen }, replace: true })
            }
          />
        )
      }
    >
      <Questions scorecard={scorecard} period={period} />
    </Card>
  );
}

function Questions({ scorecard, period }: { scorecard: string; period: Period }) {
  const t = dashboardTexts.use();
  const [compared, setCompared] = useState<Compared | null>(null);
  const agreement = useQuery({
    ...get(['agreement', scorecard, period], '/api/v1/scorecards/{uuid}/agreement', {
      path: { uuid: scorecard },
      query: { from: period.started_from, to: period.started_to },
    }),
    placeholderData: keepPreviousData,
  });
  const { data } = agreement;
  if (data === undefined) return <LoadingOrFailed query={agreement} />;
  if (data.questions.length === 0) return <p className="muted">{t('agreement.none')}</p>;
  return (
    <>
      <p className="muted">
        {t('agreement.about', { n: data.reviewed_calls, calls: format.number(data.reviewed_calls) })}
      </p>
      <Table
        label={t('agreement.byQuestion')}
        className="scroll-x dashboard-agreement"
        items={data.questions.toSorted((a, b) => a.agreement - b.agreement)}
        keyOf={({ uuid }) => uuid}
        columns={[
          { title: t('question'), kind: 'name', className: 'foreign', cell: ({ text }) => text },
          {
            title: t('answers'),
            kind: 'number',
            cell: (question) => <Count count={question.n} onOpen={() => setCompared({ question })} />,
          },
          { title: t('agreed'), kind: 'number', cell: (question) => format.percent(question.agreement) },
          {
            title: t('kappa'),
            kind: 'number',
            cell: ({ kappa }) => (kappa === null ? '–' : format.number(kappa, 2, 2)),
          },
        ]}
        details={(question) => <Confusion question={question} onCalls={setCompared} />}
      />
      {compared !== null && (
        <ComparedCalls scorecard={scorecard} period={period} compared={compared} onClose={() => setCompared(null)} />
      )}
    </>
  );
}

/** A number that opens its calls. */
function Count({ count, onOpen }: { count: number; onOpen: () => void }) {
  const t = dashboardTexts.use();
  const text = format.number(count);
  return (
    <button type="button" className="link number" aria-label={t('callsOf', { count: text })} onClick={onOpen}>
      {text}
    </button>
  );
}

interface ConfusionProps {
  readonly question: Schemas['QuestionAgreement'];
  readonly onCalls: (compared: Compared) => void;
}

/** The confusion matrix: the machine's answers by people's answers. */
function Confusion({ question, onCalls }: ConfusionProps) {
  const t = dashboardTexts.use();
  const { confusion } = question;
  const labels = [...new Set(confusion.flatMap(({ machine, person }) => [machine, person]))].sort((a, b) =>
    a === null ? 1 : b === null ? -1 : a.localeCompare(b),
  );
  const nameOf = (label: string | null) => label ?? t('notApplicable');
  const countOf = (machine: string | null, person: string | null) =>
    confusion.find((each) => each.machine === machine && each.person === person)?.count ?? 0;
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label={t('confusion')}>
      <table className="table dashboard-confusion">
        <caption className="muted">{t('confusion')}</caption>
        <thead>
          <tr>
            <td />
            {labels.map((person) => (
              <th key={person ?? ''} scope="col" className="foreign">
                {t('personSays', { answer: nameOf(person) })}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {labels.map((machine) => (
            <tr key={machine ?? ''}>
              <th scope="row" className="foreign">
                {t('machineSays', { answer: nameOf(machine) })}
              </th>
              {labels.map((person) => {
                const count = countOf(machine, person);
                return (
                  <td key={person ?? ''} className="number" data-agreed={machine === person}>
                    {count === 0 ? (
                      <span className="muted">0</span>
                    ) : (
                      <Count count={count} onOpen={() => onCalls({ question, machine, person })} />
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
