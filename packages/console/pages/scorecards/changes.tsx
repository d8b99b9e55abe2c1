import { scorecardsTexts } from '../texts.ts';
import type { Difference } from './draft.ts';

interface Props {
  readonly of: readonly (Pick<Difference, 'kind' | 'text'> & Partial<Difference>)[];
}

/** What was done to each question. */
export function Changes({ of }: Props) {
  const t = scorecardsTexts.use();
  if (of.length === 0) return <p className="muted">{t('noChanges')}</p>;
  return (
    <ul>
      {of.map(({ kind, text, parts = [] }) => (
        <li key={`${kind} ${text}`}>
          <span className={kind === 'removed' ? 'badge badge-bad' : 'badge badge-accent'}>{t(`change.${kind}`)}</span>{' '}
          <span className="foreign">{text}</span>{' '}
          <span className="muted">{parts.map((part) => t(`part.${part}`)).join(', ')}</span>
        </li>
      ))}
    </ul>
  );
}
