import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { get } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { Card, LoadingOrFailed } from '../../widgets/page.tsx';
import { scorecardsTexts } from '../texts.ts';
import { differences, type Scorecard } from './draft.ts';

const route = getRouteApi('/scorecards');

/** The revisions of a scorecard, and what changed from one of them to the newest. */
export function Revisions({ scorecard }: { scorecard: Scorecard }) {
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
  const found = differences(earlier.data, scorecard);
  return (
    <div role="region" aria-label={t('changes')}>
      <h3>{t('since', { revision: format.number(revision) })}</h3>
      {found.length === 0 && <p className="muted">{t('noChanges')}</p>}
      <ul>
        {found.map(({ kind, text, parts }) => (
          <li key={`${kind} ${text}`}>
            <span className={kind === 'removed' ? 'badge badge-bad' : 'badge badge-accent'}>{t(`change.${kind}`)}</span>{' '}
            <span className="foreign">{text}</span>{' '}
            <span className="muted">{parts.map((part) => t(`part.${part}`)).join(', ')}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
