import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get, type Schemas } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { Score, StatusBadge } from '../../widgets/call-facts.tsx';
import { List, usePages, Table } from '../../widgets/list.tsx';
import { State, LoadingOrFailed } from '../../widgets/page.tsx';
import { usePersonName } from '../../widgets/people.ts';
import { uploadTexts } from '../texts.ts';
import { RefusedRows } from './refusals.tsx';

type Batch = Schemas['Batch'];

const SIZE = 10;
const POLL_MS = 4_000;

/** The batches of the firm, newest first, save those that are shown already. */
export function Batches({ shown }: { shown: readonly string[] }) {
  const t = uploadTexts.use();
  const batches = usePages((query) => get(['batches', query], '/api/v1/calls/batches', { query }), {
    size: SIZE,
    refetchInterval: POLL_MS,
  });
  const nameOf = usePersonName();
  return (
    <section className="upload-list" aria-label={t('batches')}>
      <h2>{t('batches')}</h2>
      <List
        label={t('batches')}
        pages={batches}
        none={<State title={t('batches.none')} text={t('batches.noneText')} />}
      >
        {(items) =>
          items
            .filter(({ batch_id }) => !shown.includes(batch_id))
            .map((batch) => (
              <article key={batch.batch_id} className="card card-body upload-card">
                <div className="upload-card-head">
                  <h3 className="foreign">
                    {[batch.file_name, batch.archive_name].filter(Boolean).join(' + ') ||
                      format.dateTime(batch.created_at)}
                  </h3>
                  <span className="muted">
                    {[
                      t(`kind.${batch.kind}`),
                      ...(batch.uploaded_by === null ? [] : [nameOf(batch.uploaded_by)]),
                      format.dateTime(batch.created_at),
                    ].join(' · ')}
                  </span>
                  <span className="muted number">{acceptedText(batch)}</span>
                </div>
                <BatchStatus batch={batch} />
              </article>
            ))
        }
      </List>
    </section>
  );
}

/** What became of the rows of a file. */
export function acceptedText({ accepted, duplicates, rejected }: Pick<Batch, 'accepted' | 'duplicates' | 'rejected'>) {
  return uploadTexts.translate('accepted', {
    n: accepted,
    accepted: format.number(accepted),
    duplicates: format.number(duplicates),
    rejected: format.number(rejected),
  });
}

type Status = Schemas['Call']['status'];

const BATCH_POLL_MS = 2_000;
/** In the order in which a call has them, the last first. */
const STATUSES: readonly Status[] = ['completed', 'failed', 'canceled', 'analyzing', 'transcribing', 'queued'];

/** A batch until its last call is done. */
export function BatchProgress({ uuid }: { uuid: string }) {
  const batch = useQuery({
    ...get(['batch', uuid], '/api/v1/calls/batches/{batch_id}', { path: { batch_id: uuid } }),
    refetchInterval: ({ state }) =>
      state.data === undefined || state.data.finished_at === null ? BATCH_POLL_MS : false,
  });
  if (batch.data === undefined) return <LoadingOrFailed query={batch} />;
  return <BatchStatus batch={batch.data} />;
}

function BatchStatus({ batch }: { batch: Batch }) {
  const t = uploadTexts.use();
  const shell = shellTexts.use();
  const countOf = (status: Status) => batch.by_status[status] ?? 0;
  const sumOf = (statuses: readonly Status[]) => statuses.reduce((sum, status) => sum + countOf(status), 0);
  const [all, ended] = [sumOf(STATUSES), sumOf(['completed', 'failed', 'canceled'])];
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
        {STATUSES.filter((status) => countOf(status) > 0).map((status) => (
          <Link
            key={status}
            to="/calls"
            search={{ batch: batch.batch_id, status: [status] }}
            className={status === 'failed' ? 'badge badge-bad' : 'badge'}
          >
            {shell(`status.${status}`)} <span className="number">{format.number(countOf(status))}</span>
          </Link>
        ))}
        <Link to="/calls" search={{ batch: batch.batch_id }}>
          {t('batch.calls')}
        </Link>
        <RefusedRows url={batch.rejected_csv_url} kind="quiet" isSmall />
      </p>
    </div>
  );
}

const SINGLE_POLL_MS = 5_000;
/** Of the newest recordings of all uploads. */
const SINGLE_READ = 50;
const SINGLE_SHOWN = 10;

/** The newest recordings that were uploaded one by one: they belong to no batch. */
export function SingleRecordings() {
  const t = uploadTexts.use();
  const calls = useQuery({
    ...get(['calls', 'single-recordings'], '/api/v1/calls', {
      query: { source: 'audio', sort: '-created_at', size: SINGLE_READ },
    }),
    refetchInterval: SINGLE_POLL_MS,
  });
  const single = (calls.data?.items ?? []).filter(({ batch_id }) => batch_id === null).slice(0, SINGLE_SHOWN);
  if (single.length === 0) return null;
  return (
    <section className="upload-list" aria-label={t('single')}>
      <h2>{t('single')}</h2>
      <Table
        label={t('single.list')}
        className="table-frame"
        items={single}
        keyOf={({ uuid }) => uuid}
        columns={({ name, text, plain, number }) => [
          name(t('single.uploaded'), ({ uuid, created_at }) => (
            <Link to="/calls/$uuid" params={{ uuid }}>
              {format.dateTime(created_at)}
            </Link>
          )),
          text(t('recording.operator'), ({ operator_name }) => operator_name),
          text(t('recording.client'), ({ client_phone_number }) => client_phone_number),
          plain(t('single.status'), ({ status }) => <StatusBadge status={status} />),
          number(t('single.score'), ({ score }) => <Score value={score} />),
        ]}
      />
    </section>
  );
}
