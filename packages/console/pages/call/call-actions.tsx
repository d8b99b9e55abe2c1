import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import { shellTexts } from '../../app/shell-texts.ts';
import * as format from '../../i18n/format.ts';
import { useMay } from '../../session/rights.ts';
import { Confirm } from '../../widgets/confirm.tsx';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { Popup } from '../../widgets/popup.tsx';
import { done, failed } from '../../widgets/toasts.tsx';
import { Compare } from './compare.tsx';
import { callTexts } from './texts.ts';
import { type CallDetail, callKey } from './use-call.ts';

type Window = 'compare' | 'history' | 'erase' | 'swap';
type Receipt = Schemas['ErasureReceipt'];

/** The actions that the state of the call and the user's role allow. */
export function CallActions({ call }: { call: CallDetail }) {
  const t = callTexts.use();
  const shell = shellTexts.use();
  const client = useQueryClient();
  const [open, setOpen] = useState<Window | null>(null);
  const path = { uuid: call.uuid };
  const refresh = () => client.invalidateQueries({ queryKey: callKey(call.uuid) });
  const retry = useMutation({
    mutationFn: () => send(api.POST('/api/v1/calls/{uuid}/retry', { params: { path } })),
    onSuccess: refresh,
    onError: failed,
  });
  const analyze = useMutation({
    mutationFn: () => send(api.POST('/api/v1/calls/{uuid}/analyze', { params: { path } })),
    onSuccess: async () => {
      done(t('analyzing'));
      await refresh();
    },
    onError: failed,
  });
  const swap = useMutation({
    mutationFn: () => send(api.POST('/api/v1/calls/{uuid}/swap-channels', { params: { path } })),
    onSuccess: async () => {
      done(t('swapping'));
      await refresh();
    },
    onError: failed,
  });
  const mayProcess = useMay('process');
  const isSettled = mayProcess && call.status === 'completed';
  const close = () => setOpen(null);
  return (
    <div className="actions">
      {mayProcess && call.failure?.retryable === true && call.status === 'failed' && (
        <button type="button" className="button" disabled={retry.isPending} onClick={() => retry.mutate()}>
          <Icon name="refresh" />
          {t('retry')}
        </button>
      )}
      <Popup className="button button-icon" label={<Icon name="more" />} name={t('more')}>
        {(closePopup) => {
          const item = (icon: Parameters<typeof Icon>[0]['name'], text: string, act: () => void, isDanger = false) => (
            <button
              type="button"
              className={isDanger ? 'popup-item popup-danger' : 'popup-item'}
              onClick={() => {
                closePopup();
                act();
              }}
            >
              <Icon name={icon} />
              {text}
            </button>
          );
          return (
            <>
              {isSettled && item('refresh', t('analyze'), () => analyze.mutate())}
              {isSettled && call.source === 'audio' && item('swap', t('swap'), () => setOpen('swap'))}
              {call.analyses.length > 1 && item('columns', t('compare'), () => setOpen('compare'))}
              {item('text', t('history'), () => setOpen('history'))}
              {item('print', shell('print'), () => print())}
              {mayProcess && item('trash', t('erase'), () => setOpen('erase'), true)}
            </>
          );
        }}
      </Popup>
      {open === 'compare' && <Compare analyses={call.analyses} onClose={close} />}
      {open === 'history' && <History call={call} onClose={close} />}
      {open === 'erase' && <Erase call={call} onClose={close} />}
      {open === 'swap' && (
        <Confirm
          title={t('swap')}
          text={t('swapText')}
          action={t('swap')}
          isSafe
          onConfirm={() => swap.mutate()}
          onClose={close}
        />
      )}
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
              {format.date(at)} {format.timeWithSeconds(at)}
            </time>
            <strong>{t(`status.${status}`)}</strong>
            {detail !== null && <span className="foreign">{detailText(detail)}</span>}
          </li>
        ))}
      </ol>
      <DialogActions onClose={onClose} leave="close" />
    </Dialog>
  );
}

/** What the service adds to a status, in words. A failure's message stays as it is. */
function detailText(detail: string): string {
  const name = `detail.${detail}`;
  return callTexts.has(name) ? callTexts.translate(name) : detail;
}

/** Asks, erases, and shows the receipt. */
function Erase({ call, onClose }: { call: CallDetail; onClose: () => void }) {
  const t = callTexts.use();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  const erase = useMutation({
    mutationFn: () => send(api.DELETE('/api/v1/calls/{uuid}', { params: { path: { uuid: call.uuid } } })),
    onSuccess: setReceipt,
    onError: failed,
  });
  const nameOf = (what: string) => {
    const name = `erased.${what}`;
    return callTexts.has(name) ? t(name) : what;
  };
  const leave = async () => {
    await navigate({ to: '/calls' });
    client.removeQueries({ queryKey: callKey(call.uuid) });
    await client.invalidateQueries({ queryKey: ['calls'] });
  };
  if (receipt !== null) {
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
          <button type="button" className="button button-primary" onClick={() => void leave()}>
            {t('toCalls')}
          </button>
        </div>
      </Dialog>
    );
  }
  return (
    <Confirm
      title={t('eraseTitle')}
      text={t('eraseText')}
      action={t('erase')}
      staysOpen
      isPending={erase.isPending}
      onConfirm={() => erase.mutate()}
      onClose={onClose}
    />
  );
}
