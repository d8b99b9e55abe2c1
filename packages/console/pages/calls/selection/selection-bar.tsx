import { ApiError } from '@call-analysis/client/errors';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, type Schemas, send } from '../../../api/client.ts';
import * as format from '../../../i18n/format.ts';
import { useMay, useSession } from '../../../session/session.ts';
import { done, failed, useAction } from '../../../widgets/actions.tsx';
import { Button, Form, TextField } from '../../../widgets/controls.tsx';
import { Dialog, DialogActions } from '../../../widgets/dialog.tsx';
import { Icon } from '../../../widgets/icon.tsx';
import { Facts, useFailure } from '../../../widgets/page.tsx';
import { callsTexts } from '../../texts.ts';
import type { CallSearch } from '../call-search.ts';
import { ExportButton } from '../export-button.tsx';
import { CALLS_KEY, type Call } from '../use-calls.ts';

interface Props {
  readonly selected: readonly Call[];
  readonly search: CallSearch;
  /** All calls that match, where more match than are loaded and all that are loaded are selected. Else null. */
  readonly matching: number | null;
  readonly onClear: () => void;
}

type Action = 'retry' | 'analyze' | 'erase';

/** Requests at the same time. */
const AT_ONCE = 4;

const REQUESTS: Readonly<Record<Action, (uuid: string) => Promise<unknown>>> = {
  retry: (uuid) => send(api.POST('/api/v1/calls/{uuid}/retry', { params: { path: { uuid } } })),
  analyze: (uuid) => send(api.POST('/api/v1/calls/{uuid}/analyze', { params: { path: { uuid } } })),
  erase: (uuid) => send(api.DELETE('/api/v1/calls/{uuid}', { params: { path: { uuid } } })),
};

/** The calls that a job analyzes, as the API names them. */
type Target = { readonly filter: object } | { readonly call_uuids: string[] };

/** The actions on the selected calls, or on all calls that match. */
export default function SelectionBar({ selected, search, matching, onClear }: Props) {
  const t = callsTexts.use();
  const client = useQueryClient();
  const { role } = useSession();
  const mayProcess = useMay('process');
  const [asked, setAsked] = useState<Action | null>(null);
  const [isWhole, setWhole] = useState(false);
  const [progress, setProgress] = useState<{ done: number; all: number } | null>(null);
  const retryable = selected.filter(({ failure }) => failure?.retryable === true);
  const analyzable = selected.filter(({ status }) => status === 'completed');
  // A call in which no one speaks has no answers to compare.
  const scored = selected.filter(({ outcome }) => outcome === 'scored');
  const callsOf: Readonly<Record<Action, readonly Call[]>> = { retry: retryable, analyze: analyzable, erase: selected };
  const all = isWhole && matching !== null ? matching : null;
  // A job has no order.
  const { sort: _sort, ...filter } = search;
  const target: Target = all === null ? { call_uuids: analyzable.map(({ uuid }) => uuid) } : { filter };

  const run = async (action: Action) => {
    setAsked(null);
    const calls = callsOf[action];
    const left = calls.values();
    const errors: unknown[] = [];
    let ended = 0;
    setProgress({ done: 0, all: calls.length });
    const worker = async () => {
      for (const { uuid } of left) {
        try {
          await REQUESTS[action](uuid);
        } catch (error) {
          const isGone = error instanceof ApiError && error.status === 404;
          if (!isGone) errors.push(error);
        }
        setProgress({ done: ++ended, all: calls.length });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    setProgress(null);
    const succeeded = calls.length - errors.length;
    if (succeeded > 0) done(t(`${action}.done`, { n: succeeded, count: format.number(succeeded) }));
    if (errors.length > 0) failed(errors[0]);
    if (errors.length === 0) onClear();
    await client.resetQueries({ queryKey: CALLS_KEY });
  };
  const count = all ?? analyzable.length;
  const job = useAction(() => analyzeAll(target, false), {
    says: t('analyze.done', { n: count, count: format.number(count) }),
    onDone: onClear,
  });
  const analyze = () => {
    // Jobs on many calls are for ADMIN.
    if (role !== 'ADMIN') return void run('analyze');
    setAsked(null);
    job.mutate();
  };

  return (
    <div className="calls-selection" role="region" aria-label={t('selection')}>
      <strong className="number">
        {all === null
          ? t('selected', { n: selected.length, count: format.number(selected.length) })
          : t('selectedAll', { n: all, count: format.number(all) })}
      </strong>
      {matching !== null && all === null && (
        <Button kind="quiet" onClick={() => setWhole(true)}>
          {t('selectMatching', { n: matching, count: format.number(matching) })}
        </Button>
      )}
      {progress === null ? (
        <>
          {mayProcess && all === null && retryable.length > 0 && (
            <Button icon="refresh" onClick={() => void run('retry')}>
              {t('retry', { count: format.number(retryable.length) })}
            </Button>
          )}
          {mayProcess && (all === null ? analyzable.length > 0 : role === 'ADMIN') && (
            <Button icon="scorecards" onClick={() => setAsked('analyze')}>
              {t('analyze')}
            </Button>
          )}
          {all === null && scored.length > 0 && (
            <Link to="/calibrations/new" search={{ calls: scored.map(({ uuid }) => uuid) }} className="button">
              <Icon name="columns" />
              {t('calibrate')}
            </Link>
          )}
          {all === null ? <ExportButton uuids={selected.map(({ uuid }) => uuid)} /> : <ExportButton search={search} />}
          {mayProcess && all === null && (
            <Button icon="trash" kind="danger" onClick={() => setAsked('erase')}>
              {t('erase')}
            </Button>
          )}
          <Button kind="quiet" onClick={onClear}>
            {t('clearSelection')}
          </Button>
        </>
      ) : (
        <label className="calls-progress">
          <progress max={progress.all} value={progress.done} />
          {format.number(progress.done)} / {format.number(progress.all)}
        </label>
      )}
      {asked === 'analyze' && (
        <AnalyzeDialog target={target} count={count} onConfirm={analyze} onClose={() => setAsked(null)} />
      )}
      {asked === 'erase' && (
        <EraseDialog count={selected.length} onConfirm={() => void run('erase')} onClose={() => setAsked(null)} />
      )}
    </div>
  );
}

/** Starts the job that analyzes calls again, or estimates what it takes. */
function analyzeAll(target: Target, dry_run: boolean, signal: AbortSignal | null = null) {
  // The types of the API have the filter as an object without fields.
  const body = { ...(target as { filter: Record<string, never> }), dry_run };
  return send(api.POST('/api/v1/calls/analyze', { body, signal }));
}

interface DialogProps {
  readonly count: number;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Erasing cannot be undone, so the user must type the number of calls. */
function EraseDialog({ count, onConfirm, onClose }: DialogProps) {
  const t = callsTexts.use();
  const [typed, setTyped] = useState('');
  const isReady = typed.trim() === String(count);
  return (
    <Dialog title={t('erase.title', { n: count, count: format.number(count) })} onClose={onClose}>
      <p>{t('erase.text')}</p>
      <Form className="form filter-form" onSend={() => isReady && onConfirm()}>
        <TextField
          label={t('typeNumber', { count: String(count) })}
          inputMode="numeric"
          autoComplete="off"
          value={typed}
          onText={setTyped}
        />
        <DialogActions onClose={onClose}>
          <Button kind="danger" isSubmit disabled={!isReady}>
            {t('erase')}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

/** Asks before calls are analyzed anew, and says what that takes to those who may know it. */
function AnalyzeDialog({ target, count, onConfirm, onClose }: DialogProps & { target: Target }) {
  const t = callsTexts.use();
  const { role } = useSession();
  const estimate = useQuery({
    queryKey: ['analysis-estimate', target],
    queryFn: async ({ signal }) => (await analyzeAll(target, true, signal)) as Schemas['AnalysisEstimate'],
    enabled: role === 'ADMIN',
    staleTime: 0,
  });
  const failure = useFailure(estimate.error);
  const calls = estimate.data?.calls ?? count;
  return (
    <Dialog title={t('analyze.title', { n: calls, count: format.number(calls) })} onClose={onClose}>
      <p>{t('analyze.text')}</p>
      {role === 'ADMIN' && (
        <div className="calls-estimate" role="status">
          {estimate.isPending && t('estimate.pending')}
          {estimate.isError && `${failure.title}. ${failure.text}`}
          {estimate.data !== undefined && <Estimate {...estimate.data} />}
        </div>
      )}
      <DialogActions onClose={onClose}>
        <Button kind="primary" disabled={role === 'ADMIN' && estimate.data?.calls === 0} onClick={onConfirm}>
          {t('analyze')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function Estimate({ input_tokens, output_tokens, cost }: Schemas['AnalysisEstimate']) {
  const t = callsTexts.use();
  if (input_tokens === 0) return t('estimate.free');
  const money = (amount: string) => format.number(Number(amount), 2, 2);
  return (
    <Facts
      of={[
        [
          t('estimate.tokens'),
          t('estimate.tokensOf', { input: format.number(input_tokens), output: format.number(output_tokens) }),
        ],
        [
          t('estimate.cost'),
          cost === null ? t('estimate.noPrices') : `${money(cost.low)} – ${money(cost.high)} ${cost.currency}`,
        ],
      ]}
    />
  );
}
