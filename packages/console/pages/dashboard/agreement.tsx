import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Schemas, get, api, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { Score } from '../../widgets/call-facts.tsx';
import { Select } from '../../widgets/controls.tsx';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { Table, PagedTable, usePages } from '../../widgets/list.tsx';
import { Card, LoadingOrFailed } from '../../widgets/page.tsx';
import { CallLink } from '../calls/call-list.tsx';
import { dashboardTexts } from '../texts.ts';
import type { Period } from './period.ts';
import { usePeriod } from './use-period.ts';
import { named, useStatistics } from './use-statistics.ts';

/** How far people agree with the machine, for each question of a scorecard. Every number opens its calls. */
export function Agreement() {
  const t = dashboardTexts.use();
  const { search, tz, now: period, choose } = usePeriod();
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
            onChoose={(chosen) => choose({ scorecard: chosen })}
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
        columns={({ name, number }) => [
          name(t('question'), ({ text }) => text),
          number(t('answers'), (question) => <Count count={question.n} onOpen={() => setCompared({ question })} />),
          number(t('agreed'), (question) => format.percent(question.agreement)),
          number(t('kappa'), ({ kappa }) => (kappa === null ? '–' : format.number(kappa, 2, 2))),
        ]}
        details={(question) => <Confusion question={question} onCalls={setCompared} />}
      />
      {compared !== null && (
        <ComparedCalls scorecard={scorecard} period={period} compared={compared} onClose={() => setCompared(null)} />
      )}
    </>
  );
}

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

/** Answers whose calls are listed. Absent answers are any, null is "not applicable". */
interface Compared {
  readonly question: Schemas['QuestionAgreement'];
  readonly machine?: string | null;
  readonly person?: string | null;
}

interface Props {
  readonly scorecard: string;
  readonly period: Period;
  readonly compared: Compared;
  readonly onClose: () => void;
}

/** The calls that a number of the agreement counts. Each opens at the question. */
function ComparedCalls({ scorecard, period, compared, onClose }: Props) {
  const t = dashboardTexts.use();
  const { question, machine, person } = compared;
  const calls = usePages((page) => ({
    queryKey: ['agreement', scorecard, period, question.uuid, machine, person, page],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams({
        from: period.started_from,
        to: period.started_to,
        question: question.uuid,
        page: String(page.page),
        size: String(page.size),
        // An empty answer is "not applicable", which a serializer that drops what is empty would take for any.
        ...(machine !== undefined && { machine: machine ?? '' }),
        ...(person !== undefined && { person: person ?? '' }),
      });
      return send(
        api.GET('/api/v1/scorecards/{uuid}/agreement/calls', {
          params: { path: { uuid: scorecard }, query: { question: question.uuid } },
          querySerializer: () => query.toString(),
          signal,
        }),
      );
    },
  }));
  const uuids = [...new Set(calls.items.map((each) => each.call_uuid))];
  return (
    <Dialog title={t('comparedCalls')} isWide onClose={onClose}>
      <p className="foreign">{question.text}</p>
      <PagedTable
        label={t('comparedCalls')}
        pages={calls}
        none={null}
        keyOf={({ call_uuid, machine, person }) => `${call_uuid} ${machine} ${person}`}
        columns={({ plain, text, number }) => [
          plain(t('started'), ({ call_uuid, start_time }) => (
            <CallLink uuid={call_uuid} list={{ title: t('title'), uuids }} question={question.uuid}>
              {format.dateTime(start_time)}
            </CallLink>
          )),
          text(t('by.operator_name'), ({ operator_name }) => operator_name),
          text(t('machine'), (call) => call.machine ?? t('notApplicable')),
          text(t('person'), (call) => call.person ?? t('notApplicable')),
          number(t('measure.score'), ({ score }) => <Score value={score} />),
        ]}
      />
      <DialogActions onClose={onClose} />
    </Dialog>
  );
}
