import type { ReactNode } from 'react';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';

interface Props {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  /** Further choices. */
  readonly children?: ReactNode;
}

/** Asks before something that breaks what others use. */
export function Confirm({ title, text, action, onConfirm, onClose, children }: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      {children}
      <DialogActions onClose={onClose}>
        <button
          type="button"
          className="button button-danger"
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {action}
        </button>
      </DialogActions>
    </Dialog>
  );
}
