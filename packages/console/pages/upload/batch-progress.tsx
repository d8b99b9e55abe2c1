import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Schemas, get } from '../../api/client.ts';
import { saveFile } from '../../api/save-file.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { failed } from '../../widgets/actions.tsx';
import { Button } from '../../widgets/controls.tsx';
import { LoadingOrFailed } from '../../widgets/page.tsx';
import { uploadTexts } from '../texts.ts';

type Batch = Schemas['Batch'];
type Status = Schemas['Call']['status'];

const POLL_MS = 2_000;
/** In the order in which a call has them, the last first. */
const SHOWN: readonly Status[] = ['completed', 'failed', 'canceled', 'analyzing', 'transcribing', 'queued'];

/** A batch until its last call is done. */
export function BatchProgress({ uuid }: { uuid: string }) {
  const batch = useQuery({
    ...get(['batch', uuid], '/api/v1/calls/batches/{batch_id}', { path: { batch_id: uuid } }),
    refetchInterval: ({ state }) => (state.data === undefined || state.data.finished_at === null ? POLL_MS : false),
  });
  if (batch.data === undefined) return <LoadingOrFailed query={batch} />;
  return <BatchStatus batch={batch.data} />;
}

export function BatchStatus({ batch }: { batch: Batch }) {
  const t = uploadTexts.use();
  const shell = shellTexts.use();
  const counts = SHOWN.map((status) => ({ status, count: batch.by_status[status] ?? 0 })).filter(
    ({ count }) => count > 0,
  );
  const all = counts.reduce((sum, { count }) => sum + count, 0);
  const ended = counts
    .filter(({ status }) => ['completed', 'failed', 'canceled'].includes(status))
    .reduce((sum, { count }) => sum + count, 0);
  const { rejected_csv_url: rejected } = batch;
  return (
    <div className="upload-batch">
      <div className="row upload-bar">
        <progress
          aria-label={t('batch.progress')}
          max={Math.max(all, 1)}
          value={batch.finished_at === null ? ended : Math.max(all, 1)}
        />
        <span className="number">
          {batch.finished_at === null
            ? t('batch.running', { done: format.number(ended), all: format.number(all) })
            : t('batch.finished', { at: format.dateTime(batch.finished_at) })}
        </span>
      </div>
      <p className="row upload-counts">
        {counts.map(({ status, count }) => (
          <Link
            key={status}
            to="/calls"
            search={{ batch: batch.batch_id, status: [status] }}
            className={status === 'failed' ? 'badge badge-bad' : 'badge'}
          >
            {shell(`status.${status}`)} <span className="number">{format.number(count)}</span>
          </Link>
        ))}
        <Link to="/calls" search={{ batch: batch.batch_id }}>
          {t('batch.calls')}
        </Link>
        {rejected !== null && (
          <Button
            icon="download"
            kind="quiet"
            isSmall
            onClick={() => void saveFile(rejected, t('rejectedName')).catch(failed)}
          >
            {t('rejected')}
          </Button>
        )}
      </p>
    </div>
  );
}
