import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { useMay } from '../../session/session.ts';
import { useAction, useAskedAction } from '../../widgets/actions.tsx';
import { Score } from '../../widgets/call-facts.tsx';
import { Button, Popup, PopupItem } from '../../widgets/controls.tsx';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { Table } from '../../widgets/list.tsx';
import { callTexts } from '../texts.ts';
import { type CallDetail, callKey, type Analysis, type Question } from './use-call.ts';
import { questionsOf } from './use-review.tsx';

export type Receipt = Schemas['ErasureReceipt'];

interface Props {
  readonly call: CallDetail;
  readonly onErased: (receipt: Receipt) => void;
}

/** The actions that the state of the call and the user's role allow. */
export function CallActions({ call, onErased }: Props) {
  const t = callTexts.use();
  const shell = shellTexts.use();
  const [open, setOpen] = useState<'compare' | 'history' | null>(null);
  const params = { path: { uuid: call.uuid } };
  const changes = [callKey(call.uuid)];
  const retry = useAction(() => send(api.POST('/api/v1/calls/{uuid}/retry', { params })), { changes });
  const analyze = useAction(() => send(api.POST('/api/v1/calls/{uuid}/analyze', { params })), {
    changes,
    says: t('analyzing'),
  });
  const swap = useAskedAction(
    () => ({ title: t('swap'), text: t('swapText'), action: t('swap'), isSafe: true }),
    () => send(api.POST('/api/v1/calls/{uuid}/swap-channels', { params })),
    { changes, says: t('swapping') },
  );
  const erase = useAskedAction(
    () => ({ title: t('eraseTitle'), text: t('eraseText'), action: t('erase') }),
    () => send(api.DELETE('/api/v1/calls/{uuid}', { params })),
    { onDone: onErased },
  );
  const mayProcess = useMay('process');
  const isSettled = mayProcess && call.status === 'completed';
  return (
    <div className="actions">
      {mayProcess && call.failure?.retryable === true && call.status === 'failed' && (
        <Button icon="refresh" disabled={retry.isPending} onClick={() => retry.mutate()}>
          {t('retry')}
        </Button>
      )}
      <Popup className="button button-icon" icon="more" name={t('more')}>
        {isSettled && (
          <PopupItem icon="refresh" onClick={() => analyze.mutate()}>
            {t('analyze')}
          </PopupItem>
        )}
        {isSettled && call.source === 'audio' && (
          <PopupItem icon="swap" onClick={() => swap()}>
            {t('swap')}
          </PopupItem>
        )}
        {call.analyses.length > 1 && (
          <PopupItem icon="columns" onClick={() => setOpen('compare')}>
            {t('compare')}
          </PopupItem>
        )}
        <PopupItem icon="text" onClick={() => setOpen('history')}>
          {t('history')}
        </PopupItem>
        <PopupItem icon="print" onClick={() => print()}>
          {shell('print')}
        </PopupItem>
        {mayProcess && (
          <PopupItem icon="trash" isDanger onClick={() => erase()}>
            {t('erase')}
          </PopupItem>
        )}
      </Popup>
      {open === 'compare' && <Compare analyses={call.analyses} onClose={() => setOpen(null)} />}
      {open === 'history' && <History call={call} onClose={() => setOpen(null)} />}
    </div>
  );
}

function History({ call, onClose }: { call: CallDetail; onClose: () => void }) {
  const t = callTexts.use();
  return (
    <Dialog title={t('history')} onClose={onClose}>
      <ol className="history">
        {call.history.map(({ status, at, detail }) => (
          <li key={`${at} ${status}`}>
            <time dateTime={at} className="number muted">
              {format.exactTime(at)}
            </time>
            <strong>{shellTexts.translate(`status.${status}`)}</strong>
            {/* A failure's message stays as it is. */}
            {detail !== null && <span className="foreign">{callTexts.inWords('detail.', detail)}</span>}
          </li>
        ))}
      </ol>
      <DialogActions onClose={onClose} />
    </Dialog>
  );
}

/** What was erased. The call is gone, so it leads to the others. */
export function Erased({ receipt }: { receipt: Receipt }) {
  const t = callTexts.use();
  const client = useQueryClient();
  const navigate = useNavigate();
  const leave = async () => {
    await navigate({ to: '/calls' });
    client.removeQueries({ queryKey: callKey(receipt.uuid) });
    await client.invalidateQueries({ queryKey: ['calls'] });
  };
  return (
    <Dialog title={t('erased')} onClose={() => void leave()}>
      <p className="number">{format.dateTime(receipt.erased_at)}</p>
      <p>
        <code>{receipt.uuid}</code>
      </p>
      <table className="receipt">
        <tbody>
          {receipt.removed.map(({ what, count }) => (
            <tr key={what}>
              <th scope="row">{callTexts.inWords('erased.', what)}</th>
              <td className="number">{format.number(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="dialog-actions">
        <Button kind="primary" onClick={() => void leave()}>
          {t('toCalls')}
        </Button>
      </div>
    </Dialog>
  );
}

/** The newest analyses, as many as fit side by side. */
const MOST = 4;

/** Analyses of one call side by side, question by question. */
function Compare({ analyses, onClose }: { analyses: readonly Analysis[]; onClose: () => void }) {
  const t = callTexts.use();
  const shown = analyses.slice(0, MOST);
  const texts = new Map(
    shown
      .toReversed()
      .flatMap(questionsOf)
      .map(({ uuid, text }) => [uuid, text]),
  );
  const answers = shown.map((analysis) => new Map(questionsOf(analysis).map((question) => [question.uuid, question])));
  const isSame = (uuid: string) => new Set(answers.map((of) => of.get(uuid)?.answer)).size === 1;
  return (
    <Dialog title={t('compare')} isWide onClose={onClose}>
      <Table
        label={t('compare')}
        className="scroll-x compare"
        items={[...texts]}
        keyOf={([uuid]) => uuid}
        columns={({ name, text }) => [
          name(t('question'), ([, question]) => question),
          ...shown.map(({ created_at, score, scorecard }, at) =>
            text(
              format.dateTime(created_at),
              ([uuid]) => {
                const question = answers[at]!.get(uuid);
                const answer = question === undefined ? '–' : answerText(question);
                return isSame(uuid) ? answer : <mark>{answer}</mark>;
              },
              {
                head: (
                  <>
                    <Score value={score} />
                    <span className="muted">{format.dateTime(created_at)}</span>
                    <span className="muted foreign">
                      {scorecard.name} {scorecard.revision}
                    </span>
                  </>
                ),
              },
            ),
          ),
        ]}
      />
      <DialogActions onClose={onClose} />
    </Dialog>
  );

  function answerText({ answer, not_applicable }: Question): string {
    return not_applicable ? t('notApplicable') : (answer ?? t('open'));
  }
}
