import { confirmed } from '../../widgets/dialog.tsx';
import { callTexts } from '../texts.ts';
import type { Question } from './use-call.ts';

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
