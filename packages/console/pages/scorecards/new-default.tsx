import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, send, get } from '../../api/client.ts';
import { useAction } from '../../widgets/actions.tsx';
import { Button } from '../../widgets/controls.tsx';
import { scorecardsTexts } from '../texts.ts';
import type { Scorecard } from './draft.ts';
import { TrialDialog } from './trial/trial-dialog.tsx';

/** Offers the default scorecard of this release to a firm that has an earlier one, and has not made it its own. */
export function NewDefault({ scorecard }: { scorecard: Scorecard }) {
  const t = scorecardsTexts.use();
  const client = useQueryClient();
  const [isTrying, setTrying] = useState(false);
  const { uuid, revision, segment_type } = scorecard;
  const offered = useQuery(get(['scorecards', 'default'], '/api/v1/scorecards/default'));
  const take = useAction(
    () => {
      const { name, sections } = offered.data!;
      const params = { path: { uuid }, header: { 'If-Match': `"${revision}"` } };
      return send(api.PUT('/api/v1/scorecards/{uuid}', { params, body: { name, segment_type, sections } }));
    },
    {
      changes: [
        ['scorecards', 'list'],
        ['scorecards', 'default'],
      ],
      says: t('default.taken'),
      onDone: (saved) => client.setQueryData(['scorecards', uuid], saved),
    },
  );
  if (offered.data === undefined || offered.data.scorecard_uuid !== uuid) return null;
  if (offered.data.is_current || offered.data.is_edited) return null;
  return (
    <section className="card card-body row scorecards-row">
      <p className="scorecards-wide">{t('default.offer')}</p>
      <Button icon="play" onClick={() => setTrying(true)}>
        {t('default.try')}
      </Button>
      <Button icon="check" kind="primary" disabled={take.isPending} onClick={() => take.mutate()}>
        {t('default.take')}
      </Button>
      {isTrying && <TrialDialog scorecard={scorecard} draft={offered.data} onClose={() => setTrying(false)} />}
    </section>
  );
}
