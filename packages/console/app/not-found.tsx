import { Link } from '@tanstack/react-router';
import { State } from '../widgets/states.tsx';
import { shellTexts } from './shell-texts.ts';

export function NotFound() {
  const t = shellTexts.use();
  return (
    <State isPage title={t('notFound.title')} text={t('notFound.text')}>
      <Link to="/" className="button">
        {t('notFound.back')}
      </Link>
    </State>
  );
}
