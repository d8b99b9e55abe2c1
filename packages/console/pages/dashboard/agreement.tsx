import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { LoadingOrFailed } from '../../widgets/states.tsx';
import { TableFrame } from '../../widgets/table.tsx';
import { type Compared, ComparedCalls } from './compared-calls.tsx';
import type { Period } from './period.ts';
import { dashboardTexts } from './texts.ts';
import { type Group, useStatistics } from './use-statistics.ts';

const route = getRouteApi('/dashboard');

type QuestionAgreement = Schemas['QuestionAgreement'];

/** How far people agree with the machine, for each question of a scorecard. Every number opens its calls. */
export function Agreement({ period, tz }: { period: Period; tz: string }) {
  const t = dashboardTexts.use();
  const search = route.useSearch();
  const navigate = useNavigate();
  const scorecards = useStatistics({ group_by: 'scorecard', tz, ...period, limit: 100 });
  const items = (scorecards.data?.items ?? []).filter((item): item is Group & { key: string } => item.key !== null);
  const scorecard = items.find(({ key }) => key === search.scorecard)?.key ?? items[0]?.key ?? null;
  if (scorecard === null) return null;
  return (
    <section className="card card-body dashboard-part" aria-label={t('agreement')}>
      <div className="dashboard-head">
        <h2>{t('agreement')}</h2>
        {items.length > 1 && (
          <select
            className="input"
            aria-label={t('scorecard')}
            value={scorecard}
            onChange={({ target }) =>
              void navigate({ to: '/dashboard', search: { ...search, scorecard: target.value }, replace: true })
            }
          >
            {items.map(({ key, label }) => (
              <option key={key} value={key}>
                {label ?? key}
              </option>
            ))}
          </select>
        )}
      </div>
      <Questions scorecard={scorecard} period={period} />
    </section>
  );
}

function Questions({ scorecard, period }: { scorecard: string; period: Period }) {
  const t = dashboardTexts.use();
  const [open, setOpen] = useState<string | null>(null);
  const [compared, setCompared] = useState<Compared | null>(null);
  const agreement = useQuery({
    queryKey: ['agreement', scorecard, period],
    queryFn: ({ signal }) =>
      send(
        api.GET('/api/v1/scorecards/{uuid}/agreement', {
          params: { path: { uuid: scorecard }, query: { from: period.started_from, to: period.started_to } },
          signal,
        }),
      ),
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
      <TableFrame
        label={t('agreement.byQuestion')}
        className="scroll-x dashboard-agreement"
        heads={[
          { title: t('question') },
          { title: t('answers'), kind: 'number' },
          { title: t('agreed'), kind: 'number' },
          { title: t('kappa'), kind: 'number' },
        ]}
      >
        <tbody role="rowgroup">
          {data.questions
            .toSorted((a, b) => a.agreement - b.agreement)
            .map((question) => (
              <Row
                key={question.uuid}
                question={question}
                isOpen={open === question.uuid}
                onToggle={() => setOpen(open === question.uuid ? null : question.uuid)}
                onCalls={setCompared}
              />
            ))}
        </tbody>
      </TableFrame>
      {compared !== null && (
        <ComparedCalls scorecard={scorecard} period={period} compared={compared} onClose={() => setCompared(null)} />
      )}
    </>
  );
}

interface RowProps {
  readonly question: QuestionAgreement;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly onCalls: (compared: Compared) => void;
}

function Row({ question, isOpen, onToggle, onCalls }: RowProps) {
  const t = dashboardTexts.use();
  return (
    <>
      <tr role="row">
        <th role="rowheader" scope="row">
          <button type="button" className="dashboard-link foreign" aria-expanded={isOpen} onClick={onToggle}>
            {question.text}
          </button>
        </th>
        <td role="cell" className="number" data-column={t('answers')}>
          <button
            type="button"
            className="dashboard-link number"
            aria-label={t('callsOf', { count: format.number(question.n) })}
            onClick={() => onCalls({ question })}
          >
            {format.number(question.n)}
          </button>
        </td>
        <td role="cell" className="number" data-column={t('agreed')}>
          {format.percent(question.agreement)}
        </td>
        <td role="cell" className="number" data-column={t('kappa')}>
          {question.kappa === null ? '–' : format.number(question.kappa, 2, 2)}
        </td>
      </tr>
      {isOpen && (
        <tr role="row">
          <td role="cell" colSpan={4}>
            <Confusion question={question} onCalls={onCalls} />
          </td>
        </tr>
      )}
    </>
  );
}

/** The confusion matrix: the machine's answers by people's answers. */
function Confusion({ question, onCalls }: Pick<RowProps, 'question' | 'onCalls'>) {
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
                      <button
                        type="button"
                        className="dashboard-link number"
                        aria-label={t('callsOf', { count: format.number(count) })}
                        onClick={() => onCalls({ question, machine, person })}
                      >
                        {format.number(count)}
                      </button>
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
