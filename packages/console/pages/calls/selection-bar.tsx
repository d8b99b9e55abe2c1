import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, send } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import * as format from '../../i18n/format.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { done, failed } from '../../widgets/toasts.tsx';
import { callsTexts } from './texts.ts';
import { CALLS_KEY, type Call } from './use-calls.ts';

interface Props {
  readonly selected: readonly Call[];
  readonly onClear: () => void;
}

type Deed = 'retry' | 'analyze' | 'erase';

/** Requests at the same time. */
const AT_ONCE = 4;

const REQUESTS: Readonly<Record<Deed, (uuid: string) => Promise<unknown>>> = {
  retry: (uuid) => send(api.POST('/api/v1/calls/{uuid}/retry', { params: { path: { uuid } } })),
  analyze: (uuid) => send(api.POST('/api/v1/calls/{uuid}/analyze', { params: { path: { uuid } } })),
  erase: (uuid) => send(api.DELETE('/api/v1/calls/{uuid}', { params: { path: { uuid } } })),
};

/** What can be done with the selected calls. */
export function SelectionBar({ selected, onClear }: Props) {
  const t = callsTexts.use();
  const client = useQueryClient();
  const [asked, setAsked] = useState<Deed | null>(null);
  const [progress, setProgress] = useState<{ done: number; all: number } | null>(null);
  const retryable = selected.filter(({ failure }) => failure?.retryable === true);
  const analyzable = selected.filter(({ status }) => status === 'completed');
  const callsOf: Readonly<Record<Deed, readonly Call[]>> = { retry: retryable, analyze: analyzable, erase: selected };

  const run = async (deed: Deed) => {
    setAsked(null);
    const calls = callsOf[deed];
    setProgress({ done: 0, all: calls.length });
    const errors = await each(calls, REQUESTS[deed], (count) => setProgress({ done: count, all: calls.length }));
    setProgress(null);
    const succeeded = calls.length - errors.length;
    if (succeeded > 0) done(t(`${deed}.done`, { n: succeeded, count: format.number(succeeded) }));
    if (errors.length > 0) failed(errors[0]);
    if (errors.length === 0) onClear();
    await client.resetQueries({ queryKey: CALLS_KEY });
  };

  return (
    <div className="calls-selection" role="region" aria-label={t('selection')}>
      <strong className="number">{t('selected', { n: selected.length, count: format.number(selected.length) })}</strong>
      {progress === null ? (
        <>
          {retryable.length > 0 && (
            <button type="button" className="button" onClick={() => void run('retry')}>
              <Icon name="refresh" />
              {t('retry', { count: format.number(retryable.length) })}
            </button>
          )}
          {analyzable.length > 0 && (
            <button type="button" className="button" onClick={() => setAsked('analyze')}>
              <Icon name="scorecards" />
              {t('analyze')}
            </button>
          )}
          <button type="button" className="button button-danger" onClick={() => setAsked('erase')}>
            <Icon name="trash" />
            {t('erase')}
          </button>
          <button type="button" className="button button-quiet" onClick={onClear}>
            {t('clearSelection')}
          </button>
        </>
      ) : (
        <label className="calls-progress">
          <progress max={progress.all} value={progress.done} />
          {format.number(progress.done)} / {format.number(progress.all)}
        </label>
      )}
      {asked === 'analyze' && (
        <Confirm
          deed="analyze"
          count={analyzable.length}
          onConfirm={() => void run('analyze')}
          onClose={() => setAsked(null)}
        />
      )}
      {asked === 'erase' && (
        <Confirm
          deed="erase"
          count={selected.length}
          isTyped
          onConfirm={() => void run('erase')}
          onClose={() => setAsked(null)}
        />
      )}
    </div>
  );
}

interface ConfirmProps {
  readonly deed: 'analyze' | 'erase';
  readonly count: number;
  /** What cannot be undone asks for the number of calls. */
  readonly isTyped?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

function Confirm({ deed, count, isTyped = false, onConfirm, onClose }: ConfirmProps) {
  const t = callsTexts.use();
  const [typed, setTyped] = useState('');
  const isReady = !isTyped || typed.trim() === String(count);
  const numbers = { n: count, count: format.number(count) };
  return (
    <Dialog title={t(`${deed}.title`, numbers)} onClose={onClose}>
      <p>{t(`${deed}.text`, numbers)}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) onConfirm();
        }}
        className="filter-form"
      >
        {isTyped && (
          <label className="field">
            <span className="field-label">{t('typeNumber', { count: String(count) })}</span>
            <input
              className="input"
              inputMode="numeric"
              autoComplete="off"
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
            />
          </label>
        )}
        <div className="dialog-actions">
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button
            type="submit"
            className={deed === 'erase' ? 'button button-danger' : 'button button-primary'}
            disabled={!isReady}
          >
            {t(deed)}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Does something with every call, a few at a time. Returns the errors, save of calls that are gone already. */
async function each(
  calls: readonly Call[],
  request: (uuid: string) => Promise<unknown>,
  onProgress: (count: number) => void,
): Promise<unknown[]> {
  const left = [...calls];
  const errors: unknown[] = [];
  let count = 0;
  const worker = async () => {
    for (let call = left.shift(); call !== undefined; call = left.shift()) {
      try {
        await request(call.uuid);
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) errors.push(error);
      }
      onProgress(++count);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return errors;
}
