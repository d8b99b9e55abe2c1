import { useQuery } from '@tanstack/react-query';
import { api, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { useSession } from '../../session/session.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { callTexts } from './texts.ts';
import type { Analysis } from './use-call.ts';
import { questionsOf, type useReview } from './use-review.ts';

/** Asks which answer counts where two people answered the same question. */
export function ReviewConflict({ analysis, review }: { analysis: Analysis; review: ReturnType<typeof useReview> }) {
  const { conflict } = review;
  const t = callTexts.use();
  const name = usePersonName(conflict?.theirs.by ?? null);
  if (conflict === null) return null;
  const { mine, theirs } = conflict;
  const question = questionsOf(analysis).find(({ uuid }) => uuid === mine.questionUuid);
  const keepTheirs = () => review.settle(conflict, false);
  return (
    <Dialog title={t('conflict.title')} onClose={keepTheirs}>
      <p className="foreign">{question?.text}</p>
      <dl className="facts conflict">
        {[
          { who: `${name} · ${format.dateTime(theirs.at)}`, ...theirs },
          { who: t('you'), ...mine },
        ].map(({ who, answer, comment }) => (
          <div key={who}>
            <dt className="foreign">{who}</dt>
            <dd className="foreign">
              <strong>{answer ?? t('notApplicable')}</strong>
              {comment !== null && <p>{comment}</p>}
            </dd>
          </div>
        ))}
      </dl>
      <div className="dialog-actions">
        <button type="button" className="button" onClick={keepTheirs}>
          {t('conflict.theirs')}
        </button>
        <button type="button" className="button button-primary" onClick={() => review.settle(conflict, true)}>
          {t('conflict.mine')}
        </button>
      </div>
    </Dialog>
  );
}

/** A colleague's name, for the roles that may read it. */
function usePersonName(uuid: string | null): string {
  const t = callTexts.use();
  const { role } = useSession();
  const { data } = useQuery({
    queryKey: ['user', uuid],
    queryFn: ({ signal }) => send(api.GET('/api/v1/users/{uuid}', { params: { path: { uuid: uuid ?? '' } }, signal })),
    enabled: uuid !== null && (role === 'ADMIN' || role === 'SUPERUSER'),
    staleTime: Infinity,
  });
  return data?.name ?? t('someone');
}
