import type { Schemas } from '../../../api/client.ts';
import * as format from '../../../i18n/format.ts';
import { Score } from '../../../widgets/call-facts.tsx';
import { Table } from '../../../widgets/list.tsx';
import { scorecardsTexts } from '../../texts.ts';

type Tried = Schemas['TriedCall'];
type Answer = Schemas['TriedAnswer'];

/** Old and new scores side by side; a call opens to the answers that differ. */
export function TrialResult({ items }: { items: readonly Tried[] }) {
  const t = scorecardsTexts.use();
  const average = (side: 'before' | 'after') => {
    const scores = items.flatMap((item) => item[side]?.score ?? []);
    return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length;
  };
  return (
    <Table
      label={t('trial.results')}
      className="scroll-x"
      items={items}
      keyOf={({ call_uuid }) => call_uuid}
      columns={[
        {
          title: t('trial.call'),
          kind: 'name',
          cell: (item) => (
            <>
              <span className="foreign">{item.operator_name ?? item.call_uuid}</span>
              {item.start_time !== null && (
                <span className="muted number scorecards-when">{format.dateTime(item.start_time)}</span>
              )}
              {item.failure !== null && <p className="fault foreign">{item.failure.message}</p>}
            </>
          ),
        },
        { title: t('trial.before'), kind: 'number', cell: ({ before }) => <Score value={before?.score ?? null} /> },
        { title: t('trial.after'), kind: 'number', cell: ({ after }) => <Score value={after?.score ?? null} /> },
        { title: t('trial.differences'), kind: 'number', cell: (item) => format.number(changesOf(item).length) },
      ]}
      details={(item) =>
        changesOf(item).length > 0 && (
          <Table
            label={t('trial.differences')}
            className="scroll-x scorecards-change"
            items={changesOf(item)}
            keyOf={({ text }) => text}
            columns={[
              { title: t('question'), kind: 'name', className: 'foreign', cell: ({ text }) => text },
              { title: t('trial.before'), className: 'foreign', cell: ({ before }) => nameOf(before) },
              { title: t('trial.after'), className: 'foreign', cell: ({ after }) => nameOf(after) },
            ]}
          />
        )
      }
      foot={
        <tfoot role="rowgroup">
          <tr role="row">
            <th role="rowheader" scope="row">
              {t('trial.average')}
            </th>
            <td role="cell" className="number" data-column={t('trial.before')}>
              <Score value={average('before')} />
            </td>
            <td role="cell" className="number" data-column={t('trial.after')}>
              <Score value={average('after')} />
            </td>
            <td role="cell" />
          </tr>
        </tfoot>
      }
    />
  );

  function nameOf(answer: Answer | undefined): string {
    if (answer === undefined) return '–';
    return answer.not_applicable ? t('trial.notApplicable') : (answer.answer ?? t('trial.open'));
  }
}

interface Change {
  readonly text: string;
  readonly before: Answer | undefined;
  readonly after: Answer | undefined;
}

/** The questions that are answered otherwise, are new or are gone. */
function changesOf({ before, after }: Tried): Change[] {
  if (after === null) return [];
  const old = new Map((before?.answers ?? []).map((answer) => [answer.question_uuid, answer]));
  const changed = after.answers.flatMap((answer): Change[] => {
    const was = old.get(answer.question_uuid);
    old.delete(answer.question_uuid);
    const isSame = was?.answer === answer.answer && was.not_applicable === answer.not_applicable;
    return isSame ? [] : [{ text: answer.text, before: was, after: answer }];
  });
  return [...changed, ...[...old.values()].map((was) => ({ text: was.text, before: was, after: undefined }))];
}
