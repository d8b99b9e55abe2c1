import { lazy, type SyntheticEvent, Suspense, useState } from 'react';
import { useMay } from '../../../session/rights.ts';
import { useSession } from '../../../session/session.ts';
import { Field } from '../../../widgets/field.tsx';
import { Icon } from '../../../widgets/icon.tsx';
import { Popup } from '../../../widgets/popup.tsx';
import { done } from '../../../widgets/toasts.tsx';
import type { CallSearch } from '../call-search.ts';
import { callsTexts } from '../texts.ts';
import { isSameSearch, searchOf, useViewChanges, useViews, type View } from './use-views.ts';

const ViewsDialog = lazy(() => import('./views-dialog.tsx'));

const MAX_NAME = 255;

interface Props {
  readonly search: CallSearch;
  readonly onOpen: (search: CallSearch) => void;
}

/** Filters under a name: the person's own, and those that others share with the firm. */
export function SavedViews({ search, onOpen }: Props) {
  const t = callsTexts.use();
  const { userUuid } = useSession();
  const { data: views = [] } = useViews();
  const [isManaging, setManaging] = useState(false);
  const open = views.find((view) => isSameSearch(searchOf(view), search));
  return (
    <>
      <Popup
        label={
          <>
            <Icon name="star" />
            <span className="wide-only foreign views-open">{open?.name ?? t('views')}</span>
          </>
        }
        name={open === undefined ? t('views') : t('views.open', { name: open.name })}
      >
        {(close) => {
          const group = (title: string, of: readonly View[]) =>
            of.length > 0 && (
              <div role="group" aria-label={title}>
                <p className="popup-note muted">{title}</p>
                {of.map((view) => (
                  <button
                    key={view.uuid}
                    type="button"
                    className="popup-item"
                    aria-current={view === open ? 'true' : undefined}
                    onClick={() => {
                      onOpen(searchOf(view));
                      close();
                    }}
                  >
                    <span className="popup-tick">{view === open ? '✓' : ''}</span>
                    <span className="foreign">{view.name}</span>
                    {view.start_page && <span className="badge views-start">{t('views.startPage')}</span>}
                  </button>
                ))}
              </div>
            );
          return (
            <>
              {views.length === 0 && <p className="popup-note muted">{t('noViews')}</p>}
              {group(
                t('views.mine'),
                views.filter(({ by }) => by === userUuid),
              )}
              {group(
                t('views.others'),
                views.filter(({ by }) => by !== userUuid),
              )}
              {views.length > 0 && (
                <button
                  type="button"
                  className="popup-item"
                  onClick={() => {
                    close();
                    setManaging(true);
                  }}
                >
                  <Icon name="settings" />
                  {t('views.manage')}
                </button>
              )}
              <NewView search={search} />
            </>
          );
        }}
      </Popup>
      {isManaging && (
        <Suspense fallback={null}>
          <ViewsDialog views={views} onClose={() => setManaging(false)} />
        </Suspense>
      )}
    </>
  );
}

function NewView({ search }: { search: CallSearch }) {
  const t = callsTexts.use();
  const { create } = useViewChanges();
  const mayShare = useMay('process');
  const [name, setName] = useState('');
  const [isShared, setShared] = useState(false);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const given = name.trim();
    if (given === '' || create.isPending) return;
    create.mutate(
      { name: given, search, shared: isShared },
      {
        onSuccess: () => {
          setName('');
          done(t('views.saved'));
        },
      },
    );
  };
  return (
    <form className="filter-form" onSubmit={submit}>
      <Field label={t('viewName')}>
        <input className="input" maxLength={MAX_NAME} value={name} onChange={({ target }) => setName(target.value)} />
      </Field>
      {mayShare && (
        <label className="check">
          <input type="checkbox" checked={isShared} onChange={({ target }) => setShared(target.checked)} />
          {t('views.share')}
        </label>
      )}
      <button type="submit" className="button" disabled={name.trim() === '' || create.isPending}>
        {t('saveView')}
      </button>
    </form>
  );
}
