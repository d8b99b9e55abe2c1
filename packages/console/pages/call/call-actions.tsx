import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { useMay } from '../../session/rights.ts';
import { useAction, useAskedAction } from '../../widgets/actions.tsx';
import { Button, Popup, PopupItem } from '../../widgets/controls.tsx';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { callTexts } from '../texts.ts';
import { Compare } from './compare.tsx';
import { type CallDetail, callKey } from './use-call.ts';

type Receipt = Schemas['ErasureReceipt'];

/** The actions that the state of the call and the user's role allow. */
export function CallActions({ call }: { call: CallDetail }) {
  const t = callTexts.use();
  const shell = shellTexts.use();
  const [open, setOpen] = useState<'compare' | 'history' | null>(null);
  const [receipt, setReceipt] = useState<Receipt | null>(null);
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
    { onDone: setReceipt },
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
      <Popup className="button button-icon" label={<Icon name="more" />} name={t('more')}>
        {(close) => {
          const item = (icon: Parameters<typeof Icon>[0]['name'], text: string, act: () => void, isDanger = false) => (
            <PopupItem
              icon={icon}
              isDanger={isDanger}
              onClick={() => {
                close();
                act();
              }}
            >
              {text}
            </PopupItem>
          );
          return (
            <>
              {isSettled && item('refresh', t('analyze'), () => analyze.mutate())}
              {isSettled && call.source === 'audio' && item('swap', t('swap'), swap)}
              {call.analyses.length > 1 && item('columns', t('compare'), () => setOpen('compare'))}
              {item('text', t('history'), () => setOpen('history'))}
              {item('print', shell('print'), () => print())}
              {mayProcess && item('trash', t('erase'), erase, true)}
            </>
          );
        }}
      </Popup>
      {open === 'compare' && <Compare analyses={call.analyses} onClose={() => setOpen(null)} />}
      {open === 'history' && <History call={call} onClose={() => setOpen(null)} />}
      {receipt !== null && <Erased uuid={call.uuid} receipt={receipt} />}
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
            <strong>{t(`status.${status}`)}</strong>
            {detail !== null && <span className="foreign">{detailText(detail)}</span>}
          </li>
        ))}
      </ol>
      <DialogActions onClose={onClose} />
    </Dialog>
  );
}

/** What the service adds to a status, in words. A failure's message stays as it is. */
function detailText(detail: string): string {
  const name = `detail.${detail}`;
  return callTexts.has(name) ? callTexts.translate(name) : detail;
}

/** What was erased. The call is gone, so it leads to the others. */
function Erased({ uuid, receipt }: { uuid: string; receipt: Receipt }) {
  const t = callTexts.use();
  const client = useQueryClient();
  const navigate = useNavigate();
  const nameOf = (what: string) => {
    const name = `erased.${what}`;
    return callTexts.has(name) ? t(name) : what;
  };
  const leave = async () => {
    await navigate({ to: '/calls' });
    client.removeQueries({ queryKey: callKey(uuid) });
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
              <th scope="row">{nameOf(what)}</th>
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
