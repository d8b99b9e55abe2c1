import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Schemas, send } from '../../../api/client.ts';
import * as format from '../../../i18n/format.ts';
import { shellTexts } from '../../../i18n/texts.ts';
import { Score } from '../../../widgets/call-facts.tsx';
import { Button } from '../../../widgets/controls.tsx';
import { Dialog, DialogActions } from '../../../widgets/dialog.tsx';
import { Table } from '../../../widgets/list.tsx';
import { Fault } from '../../../widgets/page.tsx';
import { CallChoice } from '../../calls/call-choice.tsx';
import { scorecardsTexts } from '../../texts.ts';
import type { Section, Scorecard } from '../draft.ts';

interface Props {
  readonly scorecard: Scorecard;
  readonly draft: { readonly name: string; readonly sections: readonly Section[] };
  readonly onClose: () => void;
}

const MOST = 10;

/** Tries the scorecard as it is being edited on some calls. Nothing is stored. */
export function TrialDialog({ scorecard, draft, onClose }: Props) {
  const t = scorecardsTexts.use();
  const shell = shellTexts.use();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const trial = useMutation({
    mutationFn: () => {
      const body = {
        call_uuids: [...chosen],
        draft: { name: draft.name, segment_type: scorecard.segment_type, sections: [...draft.sections] },
      };
      return send(
        api.POST('/api/v1/scorecards/{uuid}/try', { params: { path: { uuid: scorecard.uuid } }, body }),
      ) as Promise<Schemas['ScorecardTrial']>;
    },
  });
  return (
    <Dialog title={t('trial')} isWide onClose={onClose}>
      {trial.data === undefined ? (
        <>
          <p className="muted">{t('trial.about', { most: format.number(MOST) })}</p>
          <CallChoice chosen={chosen} onChange={setChosen} most={MOST} segmentType={scorecard.segment_type}>
            {(offered) => (
              <Button onClick={() => setChosen(offered.slice(0, MOST))}>
                {t('trial.newest', { most: format.number(MOST) })}
              </Button>
            )}
          </CallChoice>
          {trial.isError && <Fault error={trial.error} />}
        </>
      ) : (
        <TrialResult items={trial.data.items} />
      )}
      <DialogActions onClose={onClose} leave={shell('close')}>
        {trial.data === undefined ? (
          <Button kind="primary" disabled={chosen.length === 0 || trial.isPending} onClick={() => trial.mutate()}>
            {t(trial.isPending ? 'trial.running' : 'trial.run', {
              n: chosen.length,
              count: format.number(chosen.length),
            })}
          </Button>
        ) : (
          <Button onClick={() => trial.reset()}>{t('trial.others')}</Button>
        )}
      </DialogActions>
    </Dialog>
  );
}

type Tried = Schemas['TriedCall'];
type Answer = Schemas['TriedAnswer'];

/** Old and new scores side by side; a call opens to the answers that differ. */
function TrialResult({ items }: { items: readonly Tried[] }) {
  const t = scorecardsTexts.use();
  const average = (side: 'before' | 'after') => {
    const scores = items.flatMap((item) => item[side]?.score ?? []);
    return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length;
  };
  return (
    <Table
      label={t('trial.results')}
      items={items}
      keyOf={({ call_uuid }) => call_uuid}
      columns={({ name, number }) => [
        name(t('trial.call'), (item) => (
          <>
            <span className="foreign">{item.operator_name ?? item.call_uuid}</span>
            {item.start_time !== null && (
              <span className="muted number scorecards-when">{format.dateTime(item.start_time)}</span>
            )}
            {item.failure !== null && <p className="fault foreign">{item.failure.message}</p>}
          </>
        )),
        number(t('trial.before'), ({ before }) => <Score value={before?.score ?? null} />),
        number(t('trial.after'), ({ after }) => <Score value={after?.score ?? null} />),
        number(t('trial.differences'), (item) => format.number(changesOf(item).length)),
      ]}
      details={(item) =>
        changesOf(item).length > 0 && (
          <Table
            label={t('trial.differences')}
            className="scroll-x scorecards-change"
            items={changesOf(item)}
            keyOf={({ text }) => text}
            columns={({ name, text }) => [
              name(t('question'), (change) => change.text),
              text(t('trial.before'), ({ before }) => nameOf(before)),
              text(t('trial.after'), ({ after }) => nameOf(after)),
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
