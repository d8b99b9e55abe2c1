import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, send } from '../../api/client.ts';
import { Icon } from '../../widgets/icon.tsx';
import { done, failed } from '../../widgets/toasts.tsx';
import type { Scorecard } from './draft.ts';
import { scorecardsTexts } from './texts.ts';
import { TrialDialog } from './trial/trial-dialog.tsx';

/** Offers the default scorecard of this release to a firm that has an earlier one, and has not made it its own. */
export function NewDefault({ scorecard }: { scorecard: Scorecard }) {
  const t = scorecardsTexts.use();
  const client = useQueryClient();
  const [isTrying, setTrying] = useState(false);
  const { uuid, revision, segment_type } = scorecard;
  const offered = useQuery({
    queryKey: ['scorecards', 'default'],
    queryFn: ({ signal }) => send(api.GET('/api/v1/scorecards/default', { signal })),
  });
  const take = useMutation({
    mutationFn: async () => {
      const { name, sections } = offered.data!;
      const params = { path: { uuid }, header: { 'If-Match': `"${revision}"` } };
      const saved = await send(
        api.PUT('/api/v1/scorecards/{uuid}', { params, body: { name, segment_type, sections } }),
      );
      client.setQueryData(['scorecards', uuid], saved);
      await Promise.all(['list', 'default'].map((key) => client.invalidateQueries({ queryKey: ['scorecards', key] })));
      done(t('default.taken'));
    },
    onError: failed,
  });
  if (offered.data === undefined || offered.data.scorecard_uuid !== uuid) return null;
  if (offered.data.is_current || offered.data.is_edited) return null;
  return (
    <section className="card card-body scorecards-row">
      <p className="scorecards-wide">{t('default.offer')}</p>
      <button type="button" className="button" onClick={() => setTrying(true)}>
        <Icon name="play" />
        {t('default.try')}
      </button>
      <button type="button" className="button button-primary" disabled={take.isPending} onClick={() => take.mutate()}>
        <Icon name="check" />
        {t('default.take')}
      </button>
      {isTrying && <TrialDialog scorecard={scorecard} draft={offered.data} onClose={() => setTrying(false)} />}
    </section>
  );
}
