import './scorecards.css';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, send, get } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { useAction } from '../../widgets/actions.tsx';
import { Button } from '../../widgets/controls.tsx';
import { Page, LoadingOrFailed, State, Card, Tab } from '../../widgets/page.tsx';
import { scorecardsTexts } from '../texts.ts';
import { Changes } from './changes.tsx';
import { type Scorecard, differences } from './draft.ts';
import { Editor } from './editor.tsx';
import { TrialDialog } from './trial/trial-dialog.tsx';

const route = getRouteApi('/scorecards');

/** The scorecards of the firm: read them, change them, and put them in force. */
export default function ScorecardsPage() {
  const t = scorecardsTexts.use();
  const { uuid } = route.useSearch();
  const list = useQuery(get(['scorecards', 'list'], '/api/v1/scorecards', { query: { size: 100 } }));
  const items = list.data?.items ?? [];
  const shown = items.find((each) => each.uuid === uuid) ?? items.find(({ is_active }) => is_active) ?? items[0];
  return (
    <Page title={t('title')}>
      <LoadingOrFailed query={list} />
      {list.data?.count === 0 && <State title={t('none')} />}
      <nav className="row chips" aria-label={t('title')}>
        {items.map((each) => (
          <Tab key={each.uuid} to="/scorecards" search={{ uuid: each.uuid }} isShown={each === shown}>
            <span className="chip-value foreign">{each.name}</span>
            {each.segment_type !== null && <span className="foreign">{each.segment_type}</span>}
            {each.is_active && <span className="badge badge-good">{t('active')}</span>}
          </Tab>
        ))}
      </nav>
      {shown !== undefined && <One key={shown.uuid} uuid={shown.uuid} />}
    </Page>
  );
}

function One({ uuid }: { uuid: string }) {
  const scorecard = useQuery({
    queryKey: ['scorecards', uuid],
    queryFn: ({ signal }) => send(api.GET('/api/v1/scorecards/{uuid}', { params: { path: { uuid } }, signal })),
    // A refetch must not overwrite what the user is editing.
    staleTime: Infinity,
  });
  if (scorecard.data === undefined) return <LoadingOrFailed query={scorecard} />;
  return (
    <>
      <NewDefault scorecard={scorecard.data} />
      <Editor key={scorecard.data.revision} scorecard={scorecard.data} />
      <Revisions scorecard={scorecard.data} />
    </>
  );
}

/** Offers the default scorecard of this release to a firm that has an earlier one, and has not made it its own. */
function NewDefault({ scorecard }: { scorecard: Scorecard }) {
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

/** The revisions of a scorecard, and what changed from one of them to the newest. */
function Revisions({ scorecard }: { scorecard: Scorecard }) {
  const t = scorecardsTexts.use();
  const { uuid, revision: newest } = scorecard;
  const { compare } = route.useSearch();
  const revisions = useQuery(
    get(['scorecards', uuid, 'revisions', newest], '/api/v1/scorecards/{uuid}/revisions', {
      path: { uuid },
      query: { size: 100 },
    }),
  );
  return (
    <Card title={t('revisions')}>
      <LoadingOrFailed query={revisions} />
      <ul className="stack">
        {revisions.data?.items.map(({ revision, created_at }) => (
          <li key={revision} className="row scorecards-row">
            {t('revision', { revision: format.number(revision) })} · {format.dateTime(created_at)}
            {revision !== newest && (
              <Link to="/scorecards" search={{ uuid, compare: String(revision) }}>
                {t('compare')}
              </Link>
            )}
          </li>
        ))}
      </ul>
      {compare !== undefined && <Comparison key={compare} scorecard={scorecard} revision={Number(compare)} />}
    </Card>
  );
}

function Comparison({ scorecard, revision }: { scorecard: Scorecard; revision: number }) {
  const t = scorecardsTexts.use();
  const { uuid } = scorecard;
  const earlier = useQuery(
    get(['scorecards', uuid, 'revision', revision], '/api/v1/scorecards/{uuid}', {
      path: { uuid },
      query: { revision },
    }),
  );
  if (earlier.data === undefined) return <LoadingOrFailed query={earlier} />;
  return (
    <div role="region" aria-label={t('changes')}>
      <h3>{t('since', { revision: format.number(revision) })}</h3>
      <Changes of={differences(earlier.data, scorecard)} />
    </div>
  );
}
