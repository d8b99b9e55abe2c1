import { lazy, Suspense, useState } from 'react';
import { whenOnline } from '../../../api/connection.ts';
import { Popup } from '../../../widgets/controls.tsx';
import { Icon } from '../../../widgets/icon.tsx';
import { callsTexts } from '../../texts.ts';
import type { CallSearch } from '../call-search.ts';
import { isSameSearch, searchOf, useViews } from './use-views.ts';

const ViewChoice = lazy(() => whenOnline(() => import('./view-choice.tsx')));
const ViewsDialog = lazy(() => whenOnline(() => import('./views-dialog.tsx')));

interface Props {
  readonly search: CallSearch;
  readonly onOpen: (search: CallSearch) => void;
}

/** Filters under a name: the person's own, and those that others share with the firm. */
export function SavedViews({ search, onOpen }: Props) {
  const t = callsTexts.use();
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
        {(close) => (
          <Suspense fallback={null}>
            <ViewChoice
              {...{ views, open, search }}
              onOpen={(chosen) => {
                close();
                onOpen(chosen);
              }}
              onManage={() => {
                close();
                setManaging(true);
              }}
            />
          </Suspense>
        )}
      </Popup>
      {isManaging && (
        <Suspense fallback={null}>
          <ViewsDialog views={views} onClose={() => setManaging(false)} />
        </Suspense>
      )}
    </>
  );
}
