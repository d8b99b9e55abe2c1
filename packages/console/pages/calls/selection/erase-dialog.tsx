import { useState } from 'react';
import * as format from '../../../i18n/format.ts';
import { Dialog, DialogActions } from '../../../widgets/dialog.tsx';
import { Field } from '../../../widgets/field.tsx';
import { callsTexts } from '../texts.ts';

interface Props {
  readonly count: number;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Erasing cannot be undone, so the user must type the number of calls. */
export function EraseDialog({ count, onConfirm, onClose }: Props) {
  const t = callsTexts.use();
  const [typed, setTyped] = useState('');
  const isReady = typed.trim() === String(count);
  return (
    <Dialog title={t('erase.title', { n: count, count: format.number(count) })} onClose={onClose}>
      <p>{t('erase.text')}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) onConfirm();
        }}
        className="filter-form"
      >
        <Field label={t('typeNumber', { count: String(count) })}>
          <input
            className="input"
            inputMode="numeric"
            autoComplete="off"
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        </Field>
        <DialogActions onClose={onClose}>
          <button type="submit" className="button button-danger" disabled={!isReady}>
            {t('erase')}
          </button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
