import { Fragment, useState } from 'react';
import type { Schemas } from '../../../api/client.ts';
import * as format from '../../../i18n/format.ts';
import { Score } from '../../../widgets/call-facts.tsx';
import { TableFrame } from '../../../widgets/table.tsx';
import { scorecardsTexts } from '../texts.ts';

type Tried = Schemas['TriedCall'];
type Answer = Schemas['TriedAnswer'];

/** Old and new scores side by side; a call opens to the answers that differ. */
export function TrialResult({ items }: { items: readonly Tried[] }) {
  const t = scorecardsTexts.use();
  const [open, setOpen] = useState<string | null>(null);
  const average = (side: 'before' | 'after') => {
    const scores = items.flatMap((item) => item[side]?.score ?? []);
    return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length;
  };
  return (
    <TableFrame
      label={t('trial.results')}
      heads={[
        { title: t('trial.call') },
        { title: t('trial.before'), kind: 'number' },
        { title: t('trial.after'), kind: 'number' },
        { title: t('trial.differences'), kind: 'number' },
      ]}
    >
      <tbody role="rowgroup">
        {items.map((item) => {
          const changes = changesOf(item);
          return (
            <Fragment key={item.call_uuid}>
              <tr role="row">
                <th role="rowheader" scope="row">
                  <span className="foreign">{item.operator_name ?? item.call_uuid}</span>
                  {item.start_time !== null && (
                    <span className="muted number scorecards-when">{format.dateTime(item.start_time)}</span>
                  )}
                  {item.failure !== null && <p className="fault foreign">{item.failure.message}</p>}
                </th>
                <td role="cell" className="number" data-column={t('trial.before')}>
                  <Score value={item.before?.score ?? null} />
                </td>
                <td role="cell" className="number" data-column={t('trial.after')}>
                  <Score value={item.after?.score ?? null} />
                </td>
                <td role="cell" className="number" data-column={t('trial.differences')}>
                  {changes.length === 0 ? (
                    '0'
                  ) : (
                    <button
                      type="button"
                      className="button button-small"
                      aria-expanded={open === item.call_uuid}
                      onClick={() => setOpen(open === item.call_uuid ? null : item.call_uuid)}
                    >
                      {t('trial.changed', { n: changes.length, count: format.number(changes.length) })}
                    </button>
                  )}
                </td>
              </tr>
              {open === item.call_uuid &&
                changes.map(({ text, before, after }) => (
                  <tr role="row" key={text} className="scorecards-change">
                    <td role="cell" className="foreign">
                      {text}
                    </td>
                    <td role="cell" className="foreign" data-column={t('trial.before')}>
                      {nameOf(before)}
                    </td>
                    <td role="cell" className="foreign" data-column={t('trial.after')}>
                      {nameOf(after)}
                    </td>
                    <td role="cell" />
                  </tr>
                ))}
            </Fragment>
          );
        })}
      </tbody>
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
    </TableFrame>
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
