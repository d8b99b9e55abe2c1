import { lazy, Suspense, useState } from 'react';
import { whenOnline } from '../../api/connection.ts';
import { Icon } from '../../widgets/icon.tsx';
import type { Exported } from './export-dialog.tsx';
import { callsTexts } from './texts.ts';

const ExportDialog = lazy(() => whenOnline(() => import('./export-dialog.tsx')));

/** Opens the choice of what to download. */
export function ExportButton(calls: Exported) {
  const t = callsTexts.use();
  const [isOpen, setOpen] = useState(false);
  const isChosen = 'uuids' in calls;
  return (
    <>
      <button
        type="button"
        className="button"
        aria-label={t(isChosen ? 'exportSelected' : 'export')}
        onClick={() => setOpen(true)}
      >
        <Icon name="download" />
        <span className={isChosen ? '' : 'wide-only'}>{t('export')}</span>
      </button>
      {isOpen && (
        <Suspense>
          <ExportDialog calls={calls} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
