import { get, type Schemas } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { List, usePages } from '../../widgets/list.tsx';
import { State } from '../../widgets/page.tsx';
import { usePersonName } from '../../widgets/people.ts';
import { uploadTexts } from '../texts.ts';
import { BatchStatus } from './batch-progress.tsx';

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
            ))
        }
      </List>
    </section>
  );
}

/** The names of its files. */
function namesOf({ file_name, archive_name }: Schemas['Batch']): string | null {
  return file_name === null ? null : [file_name, ...(archive_name === null ? [] : [archive_name])].join(' + ');
}
