import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { Button } from '../../widgets/controls.tsx';
import { Dialog, confirmed } from '../../widgets/dialog.tsx';
import { Facts } from '../../widgets/page.tsx';
import { usePersonName } from '../../widgets/people.ts';
import { callTexts } from '../texts.ts';
import type { Analysis, Question } from './use-call.ts';
import { questionsOf, type Review } from './use-review.ts';

/** Asks which answer counts where two people answered the same question. */
export function ReviewConflict({ analysis, review }: { analysis: Analysis; review: Review }) {
  const { conflict } = review;
  const t = callTexts.use();
  const shell = shellTexts.use();
  const nameOf = usePersonName();
  if (conflict === null) return null;
  const { mine, theirs } = conflict;
  const question = questionsOf(analysis).find(({ uuid }) => uuid === mine.questionUuid);
  const said = ({ answer, comment }: { answer: string | null; comment: string | null }) => (
    <>
      <strong>{answer ?? t('notApplicable')}</strong>
      {comment !== null && <p>{comment}</p>}
    </>
  );
  const keepTheirs = () => review.settle(conflict, false);
  return (
    <Dialog title={t('conflict.title')} onClose={keepTheirs}>
      <p className="foreign">{question?.text}</p>
      <Facts
        className="conflict"
        of={[
          [`${nameOf(theirs.by)} · ${format.dateTime(theirs.at)}`, said(theirs)],
          [shell('you'), said(mine)],
        ]}
      />
      <div className="dialog-actions">
        <Button onClick={keepTheirs}>{t('conflict.theirs')}</Button>
        <Button kind="primary" onClick={() => review.settle(conflict, true)}>
          {t('conflict.mine')}
        </Button>
      </div>
    </Dialog>
  );
}

/** Asks before a review is finished while questions have no answer of a person, and names them. */
export function mayFinish(unanswered: readonly Question[]): Promise<boolean> {
  const t = callTexts.translate;
  return confirmed({
    title: t('unanswered.title'),
    text: t('unanswered.text'),
    action: t('unanswered.finish'),
    isSafe: true,
    details: (
      <ul className="unanswered foreign">
        {unanswered.map(({ uuid, text }) => (
          <li key={uuid}>{text}</li>
        ))}
      </ul>
    ),
  });
}
