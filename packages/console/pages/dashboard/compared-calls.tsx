import { Link } from '@tanstack/react-router';
import { api, type Schemas, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { Score } from '../../widgets/call-facts.tsx';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { PagedTable, usePages } from '../../widgets/list.tsx';
import { openFromList } from '../calls/call-list.ts';
import { dashboardTexts } from '../texts.ts';
import type { Period } from './period.ts';

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

/** The calls that a number of the agreement counts. Each opens at the question. */
export function ComparedCalls({ scorecard, period, compared, onClose }: Props) {
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
        className="scroll-x"
        pages={calls}
        none={null}
        keyOf={({ call_uuid, machine, person }) => `${call_uuid} ${machine} ${person}`}
        columns={[
          {
            title: t('started'),
            cell: ({ call_uuid, start_time }) => (
              <Link
                to="/calls/$uuid"
                params={{ uuid: call_uuid }}
                search={{ question: question.uuid }}
                onClick={() => openFromList({ title: t('title'), uuids, opened: call_uuid })}
              >
                {format.dateTime(start_time)}
              </Link>
            ),
          },
          { title: t('by.operator_name'), className: 'foreign', cell: ({ operator_name }) => operator_name },
          { title: t('machine'), className: 'foreign', cell: ({ machine }) => machine ?? t('notApplicable') },
          { title: t('person'), className: 'foreign', cell: ({ person }) => person ?? t('notApplicable') },
          { title: t('measure.score'), kind: 'number', cell: ({ score }) => <Score value={score} /> },
        ]}
      />
      <DialogActions onClose={onClose} />
    </Dialog>
  );
}
