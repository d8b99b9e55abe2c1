import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import { usePersonName } from '../../api/people.ts';
import * as format from '../../i18n/format.ts';
import { Pager } from '../../widgets/pager.tsx';
import { LoadingOrFailed, State } from '../../widgets/states.tsx';
import { BatchStatus } from './batch-progress.tsx';
import { uploadTexts } from './texts.ts';

const SIZE = 10;
const POLL_MS = 4_000;

/** The batches of the firm, newest first, save those that are shown already. */
export function Batches({ shown }: { shown: readonly string[] }) {
  const t = uploadTexts.use();
  const [page, setPage] = useState(1);
  const batches = useQuery({
    queryKey: ['batches', page],
    queryFn: ({ signal }) =>
      send(api.GET('/api/v1/calls/batches', { params: { query: { page, size: SIZE } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: POLL_MS,
  });
  const nameOf = usePersonName();
  const { data } = batches;
  const pages = Math.ceil((data?.count ?? 0) / SIZE);
  return (
    <section className="upload-batches" aria-label={t('batches')}>
      <h2>{t('batches')}</h2>
      <LoadingOrFailed query={batches} />
      {data?.count === 0 && <State title={t('batches.none')} text={t('batches.noneText')} />}
      {data?.items
        .filter(({ batch_id }) => !shown.includes(batch_id))
        .map((batch) => (
          <article key={batch.batch_id} className="card card-body upload-card">
            <div className="upload-card-head">
              <h3 className="foreign">{namesOf(batch) ?? format.dateTime(batch.created_at)}</h3>
              <span className="muted">
                {[
                  t(`kind.${batch.kind}`),
                  ...(batch.uploaded_by === null ? [] : [nameOf(batch.uploaded_by)]),
                  format.dateTime(batch.created_at),
                ].join(' · ')}
              </span>
              <span className="muted number">
                {t('accepted', {
                  n: batch.accepted,
                  accepted: format.number(batch.accepted),
                  duplicates: format.number(batch.duplicates),
                  rejected: format.number(batch.rejected),
                })}
              </span>
            </div>
            <BatchStatus batch={batch} />
          </article>
        ))}
      <Pager name={t('pages')} earlier={t('newer')} later={t('older')} page={page} pages={pages} onPage={setPage} />
    </section>
  );
}

/** The names of its files. */
function namesOf({ file_name, archive_name }: Schemas['Batch']): string | null {
  return file_name === null ? null : [file_name, ...(archive_name === null ? [] : [archive_name])].join(' + ');
}
