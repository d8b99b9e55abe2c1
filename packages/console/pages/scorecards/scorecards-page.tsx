import './scorecards.css';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { api, send } from '../../api/client.ts';
import { LoadingOrFailed, State } from '../../widgets/states.tsx';
import { useTitle } from '../../widgets/use-title.ts';
import { Editor } from './editor.tsx';
import { NewDefault } from './new-default.tsx';
import { Revisions } from './revisions.tsx';
import { scorecardsTexts } from './texts.ts';

const route = getRouteApi('/scorecards');

/** The scorecards of the firm: read them, change them, and put them in force. */
export function ScorecardsPage() {
  const t = scorecardsTexts.use();
  useTitle(t('title'));
  const { uuid } = route.useSearch();
  const list = useQuery({
    queryKey: ['scorecards', 'list'],
    queryFn: ({ signal }) => send(api.GET('/api/v1/scorecards', { params: { query: { size: 100 } }, signal })),
  });
  const items = list.data?.items ?? [];
  const shown = items.find((each) => each.uuid === uuid) ?? items.find(({ is_active }) => is_active) ?? items[0];
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('title')}</h1>
      </div>
      <LoadingOrFailed query={list} />
      {list.data?.count === 0 && <State title={t('none')} />}
      <nav className="scorecards-list" aria-label={t('title')}>
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
    </div>
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
