import { useState } from 'react';
import { Button } from '../../widgets/controls.tsx';
import { later } from '../../widgets/later.tsx';
import { callsTexts } from '../texts.ts';
import type { Exported } from './export-dialog.tsx';

const ExportDialog = later(() => import('./export-dialog.tsx'));

export function ExportButton(calls: Exported) {
  const t = callsTexts.use();
  const [isOpen, setOpen] = useState(false);
  const isChosen = 'uuids' in calls;
  return (
    <>
      <Button icon="download" aria-label={t(isChosen ? 'exportSelected' : 'export')} onClick={() => setOpen(true)}>
        <span className={isChosen ? '' : 'wide-only'}>{t('export')}</span>
      </Button>
      {isOpen && <ExportDialog calls={calls} onClose={() => setOpen(false)} />}
    </>
  );
}
