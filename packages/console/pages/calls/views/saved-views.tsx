import { useState } from 'react';
import { Popup } from '../../../widgets/controls.tsx';
import { Icon } from '../../../widgets/icon.tsx';
import { later } from '../../../widgets/later.tsx';
import { callsTexts } from '../../texts.ts';
import type { CallSearch } from '../call-search.ts';
import { isSameSearch, searchOf, useViews } from './use-views.ts';

const ViewChoice = later(() => import('./view-choice.tsx'));
const ViewsDialog = later(() => import('./views-dialog.tsx'));

/** Filters under a name: the person's own, and those that others share with the firm. */
export function SavedViews({ search, onOpen }: { search: CallSearch; onOpen: (search: CallSearch) => void }) {
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
        <ViewChoice {...{ views, open, search, onOpen }} onManage={() => setManaging(true)} />
      </Popup>
      {isManaging && <ViewsDialog views={views} onClose={() => setManaging(false)} />}
    </>
  );
}
