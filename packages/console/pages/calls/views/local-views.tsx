import { useState } from 'react';
import * as format from '../../../i18n/format.ts';
import { done } from '../../../widgets/actions.tsx';
import { Button } from '../../../widgets/controls.tsx';
import { callsTexts } from '../../texts.ts';
import { callSearch, type CallSearch } from '../call-search.ts';
import { storageKey, useNewView } from './views.tsx';

interface LocalView {
  readonly name: string;
  readonly search: CallSearch;
}

/** Offers once to keep the views that an earlier console has stored in this browser. */
export default function LocalViews() {
  const t = callsTexts.use();
  const create = useNewView();
  const [views, setViews] = useState(storedViews);
  if (views.length === 0) return null;
  const forget = (left: readonly LocalView[]) => {
    setViews(left);
    if (left.length === 0) localStorage.removeItem(storageKey());
    else localStorage.setItem(storageKey(), JSON.stringify(left));
  };
  const keep = async () => {
    let left = views;
    // One by one: those that are kept are not offered again when a later one fails.
    for (const view of views) {
      try {
        await create.mutateAsync(view);
      } catch {
        return;
      }
      left = left.filter((each) => each !== view);
      forget(left);
    }
    done(t('views.local.kept'));
  };
  return (
    <div className="notice views-local" role="region" aria-label={t('views')}>
      <p>{t('views.local', { n: views.length, count: format.number(views.length) })}</p>
      <Button disabled={create.isPending} onClick={() => void keep()}>
        {t('views.local.keep')}
      </Button>
      <Button kind="quiet" disabled={create.isPending} onClick={() => forget([])}>
        {t('views.local.discard')}
      </Button>
    </div>
  );
}

/** The stored value may be damaged. */
function storedViews(): readonly LocalView[] {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey()) ?? '[]') as { name: unknown; search: unknown }[];
    return stored
      .filter(({ name, search }) => typeof name === 'string' && typeof search === 'object' && search !== null)
      .map(({ name, search }) => ({ name: String(name), search: callSearch(search as Record<string, unknown>) }));
  } catch {
    return [];
  }
}
