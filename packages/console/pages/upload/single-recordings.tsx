import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { Score, StatusBadge } from '../../widgets/call-facts.tsx';
import { Table } from '../../widgets/list.tsx';
import { uploadTexts } from '../texts.ts';

const POLL_MS = 5_000;
/** Of the newest recordings of all uploads. */
const READ = 50;
const SHOWN = 10;

/** The newest recordings that were uploaded one by one: they belong to no batch. */
export function SingleRecordings() {
  const t = uploadTexts.use();
  const calls = useQuery({
    ...get(['calls', 'single-recordings'], '/api/v1/calls', {
      query: { source: 'audio', sort: '-created_at', size: READ },
    }),
    refetchInterval: POLL_MS,
  });
  const single = (calls.data?.items ?? []).filter(({ batch_id }) => batch_id === null).slice(0, SHOWN);
  if (single.length === 0) return null;
  return (
    <section className="upload-list" aria-label={t('single')}>
      <h2>{t('single')}</h2>
      <Table
        label={t('single.list')}
        items={single}
        keyOf={({ uuid }) => uuid}
        columns={[
          {
            title: t('single.uploaded'),
            kind: 'name',
            cell: ({ uuid, created_at }) => (
              <Link to="/calls/$uuid" params={{ uuid }}>
                {format.dateTime(created_at)}
              </Link>
            ),
          },
          { title: t('recording.operator'), className: 'foreign', cell: ({ operator_name }) => operator_name },
          { title: t('recording.client'), className: 'foreign', cell: (call) => call.client_phone_number },
          { title: t('single.status'), cell: ({ status }) => <StatusBadge status={status} /> },
          { title: t('single.score'), kind: 'number', cell: ({ score }) => <Score value={score} /> },
        ]}
      />
    </section>
  );
}
