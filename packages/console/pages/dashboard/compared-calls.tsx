import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { Score } from '../../widgets/call-facts.tsx';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { Pager } from '../../widgets/pager.tsx';
import { Failed, Loading } from '../../widgets/states.tsx';
import type { Period } from './period.ts';
import { dashboardTexts } from './texts.ts';

/** Answers whose calls are listed. Absent answers are any, null is "not applicable". */
export interface Compared {
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

const SIZE = 20;

/** The calls behind a number of the agreement. Each opens at the question. */
export function ComparedCalls({ scorecard, period, compared, onClose }: Props) {
  const t = dashboardTexts.use();
  const [page, setPage] = useState(1);
  const { question, machine, person } = compared;
  const calls = useQuery({
    queryKey: ['agreement', scorecard, period, question.uuid, machine, person, page],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams({
        from: period.started_from,
        to: period.started_to,
        question: question.uuid,
        page: String(page),
        size: String(SIZE),
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
    placeholderData: keepPreviousData,
  });
  const { data } = calls;
  return (
    <Dialog title={t('comparedCalls')} isWide onClose={onClose}>
      <p className="foreign">{question.text}</p>
      {data === undefined && calls.isPending && <Loading />}
      {data === undefined && calls.isError && <Failed error={calls.error} retry={() => void calls.refetch()} />}
      {data !== undefined && (
        <div className="scroll-x" tabIndex={0} role="region" aria-label={t('comparedCalls')}>
          <table role="table" className="table table-stack">
            <thead role="rowgroup">
              <tr role="row">
                <th role="columnheader" scope="col">
                  {t('started')}
                </th>
                <th role="columnheader" scope="col">
                  {t('by.operator_name')}
                </th>
                <th role="columnheader" scope="col">
                  {t('machine')}
                </th>
                <th role="columnheader" scope="col">
                  {t('person')}
                </th>
                <th role="columnheader" scope="col" className="number">
                  {t('measure.score')}
                </th>
              </tr>
            </thead>
            <tbody role="rowgroup">
              {data.items.map((call) => (
                <tr role="row" key={`${call.call_uuid} ${call.machine} ${call.person}`}>
                  <td role="cell" data-column={t('started')}>
                    <Link to="/calls/$uuid" params={{ uuid: call.call_uuid }} search={{ question: question.uuid }}>
                      {format.dateTime(call.start_time)}
                    </Link>
                  </td>
                  <td role="cell" className="foreign" data-column={t('by.operator_name')}>
                    {call.operator_name}
                  </td>
                  <td role="cell" className="foreign" data-column={t('machine')}>
                    {call.machine ?? t('notApplicable')}
                  </td>
                  <td role="cell" className="foreign" data-column={t('person')}>
                    {call.person ?? t('notApplicable')}
                  </td>
                  <td role="cell" className="number" data-column={t('measure.score')}>
                    <Score value={call.score} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Pager
        name={t('comparedCalls')}
        earlier={t('newer')}
        later={t('older')}
        page={page}
        pages={Math.ceil((data?.count ?? 0) / SIZE)}
        onPage={setPage}
      />
      <DialogActions onClose={onClose} leave="close" />
    </Dialog>
  );
}
