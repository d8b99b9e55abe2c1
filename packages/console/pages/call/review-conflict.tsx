import { usePersonName } from '../../api/people.ts';
import { shellTexts } from '../../app/shell-texts.ts';
import * as format from '../../i18n/format.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { callTexts } from './texts.ts';
import type { Analysis } from './use-call.ts';
import { questionsOf, type useReview } from './use-review.ts';

/** Asks which answer counts where two people answered the same question. */
export function ReviewConflict({ analysis, review }: { analysis: Analysis; review: ReturnType<typeof useReview> }) {
  const { conflict } = review;
  const t = callTexts.use();
  const shell = shellTexts.use();
  const nameOf = usePersonName();
  if (conflict === null) return null;
  const { mine, theirs } = conflict;
  const question = questionsOf(analysis).find(({ uuid }) => uuid === mine.questionUuid);
  const keepTheirs = () => review.settle(conflict, false);
  return (
    <Dialog title={t('conflict.title')} onClose={keepTheirs}>
      <p className="foreign">{question?.text}</p>
      <dl className="facts conflict">
        {[
          { who: `${nameOf(theirs.by)} · ${format.dateTime(theirs.at)}`, ...theirs },
          { who: shell('you'), ...mine },
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
