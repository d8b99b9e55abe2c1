import { useQuery } from '@tanstack/react-query';
import { api, type Schemas, send } from '../../../api/client.ts';
import * as format from '../../../i18n/format.ts';
import { useSession } from '../../../session/session.ts';
import { Button } from '../../../widgets/controls.tsx';
import { Dialog, DialogActions } from '../../../widgets/dialog.tsx';
import { Facts, useFailure } from '../../../widgets/page.tsx';
import { callsTexts } from '../../texts.ts';

/** The calls that are analyzed, as the API names them. */
export type Target = { readonly filter: object } | { readonly call_uuids: string[] };

interface Props {
  readonly target: Target;
  /** As far as the page knows; the estimate counts them. */
  readonly count: number;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Starts the job that analyzes calls again. */
export function startAnalysis(target: Target): Promise<unknown> {
  return send(api.POST('/api/v1/calls/analyze', { body: bodyOf(target, false) }));
}

/** Asks before calls are analyzed anew, and says what that takes to those who may know it. */
export function AnalyzeDialog({ target, count, onConfirm, onClose }: Props) {
  const t = callsTexts.use();
  const { role } = useSession();
  const estimate = useQuery({
    queryKey: ['analysis-estimate', target],
    queryFn: async ({ signal }) =>
      (await send(
        api.POST('/api/v1/calls/analyze', { body: bodyOf(target, true), signal }),
      )) as Schemas['AnalysisEstimate'],
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

function bodyOf(target: Target, dry_run: boolean) {
  // The types of the API have the filter as an object without fields.
  return { ...(target as { filter: Record<string, never> }), dry_run };
}
