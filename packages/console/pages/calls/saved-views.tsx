import { useState } from 'react';
import { currentSession } from '../../session/session.ts';
import { Field } from '../../widgets/field.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { Popup } from '../../widgets/popup.tsx';
import { callSearch, type CallSearch } from './call-search.ts';
import { callsTexts } from './texts.ts';

interface View {
  readonly name: string;
  readonly search: CallSearch;
}

const MOST = 50;
const MAX_NAME = 80;

/** Filters that the user has named, kept in this browser for each user. */
export function SavedViews({ search, onOpen }: { search: CallSearch; onOpen: (search: CallSearch) => void }) {
  const t = callsTexts.use();
  const [views, setViews] = useState(storedViews);
  const [name, setName] = useState('');
  /** Of the views as they are stored: another tab may have changed them. */
  const change = (how: (stored: readonly View[]) => readonly View[]) => {
    const next = how(storedViews());
    setViews(next);
    localStorage.setItem(storageKey(), JSON.stringify(next));
  };
  return (
    <Popup
      label={
        <>
          <Icon name="star" />
          <span className="wide-only">{t('views')}</span>
        </>
      }
      name={t('views')}
    >
      {(close) => (
        <>
          {views.length === 0 && <p className="popup-note muted">{t('noViews')}</p>}
          {views.map((view) => (
            <div key={view.name} className="popup-pair">
              <button
                type="button"
                className="popup-item foreign"
                onClick={() => {
                  onOpen(view.search);
                  close();
                }}
              >
                {view.name}
              </button>
              <button
                type="button"
                className="button button-quiet button-icon button-small"
                aria-label={t('deleteView', { name: view.name })}
                onClick={() => change((stored) => stored.filter((each) => each.name !== view.name))}
              >
                <Icon name="close" size={13} />
              </button>
            </div>
          ))}
          <form
            className="filter-form"
            onSubmit={(event) => {
              event.preventDefault();
              const given = name.trim();
              if (given === '') return;
              change((stored) =>
                [...stored.filter((each) => each.name !== given), { name: given, search }].slice(-MOST),
              );
              setName('');
            }}
          >
            <Field label={t('viewName')}>
              <input
                className="input"
                maxLength={MAX_NAME}
                value={name}
                onChange={({ target }) => setName(target.value)}
              />
            </Field>
            <button type="submit" className="button" disabled={name.trim() === ''}>
              {t('saveView')}
            </button>
          </form>
        </>
      )}
    </Popup>
  );
}

const storageKey = () => `console.calls.views.${currentSession()?.userUuid ?? ''}`;

/** The stored value may be from an older console, or damaged. */
function storedViews(): readonly View[] {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey()) ?? '[]') as { name: unknown; search: unknown }[];
    return stored
      .filter(({ name, search }) => typeof name === 'string' && typeof search === 'object' && search !== null)
      .map(({ name, search }) => ({ name: String(name), search: callSearch(search as Record<string, unknown>) }));
  } catch {
    return [];
  }
}
