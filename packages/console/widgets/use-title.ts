import { useEffect } from 'react';
import { shellTexts } from '../app/shell-texts.ts';

/** The title of the window. */
export function useTitle(title: string): void {
  const t = shellTexts.use();
  useEffect(() => {
    document.title = `${title} · ${t('product')}`;
  });
}
