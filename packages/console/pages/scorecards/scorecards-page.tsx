import './scorecards.css';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { api, send, get } from '../../api/client.ts';
import { Page, LoadingOrFailed, State } from '../../widgets/page.tsx';
import { scorecardsTexts } from '../texts.ts';
import { Editor } from './editor.tsx';
import { NewDefault } from './new-default.tsx';
import { Revisions } from './revisions.tsx';

const route = getRouteApi('/scorecards');

/** The scorecards of the firm: read them, change them, and put them in force. */
export function ScorecardsPage() {
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
          <Link
            key={each.uuid}
            to="/scorecards"
            search={{ uuid: each.uuid }}
            className={each === shown ? 'chip chip-on' : 'chip'}
            {...(each === shown && { 'aria-current': 'page' as const })}
          >
            <span className="chip-value foreign">{each.name}</span>
            {each.segment_type !== null && <span className="foreign">{each.segment_type}</span>}
            {each.is_active && <span className="badge badge-good">{t('active')}</span>}
          </Link>
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
