import type { ReactNode } from 'react';
import { Dialog, DialogActions } from './dialog.tsx';

interface Props {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  /** It destroys nothing. */
  readonly isSafe?: boolean;
  /** It stays open after the answer, until its user closes it. */
  readonly staysOpen?: boolean;
  readonly isPending?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  /** Further choices. */
  readonly children?: ReactNode;
}

/** Asks before something that cannot be undone, or that breaks what others use. */
export function Confirm(props: Props) {
  const { title, text, action, isSafe = false, staysOpen = false, isPending = false, onConfirm, onClose } = props;
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      {props.children}
      <DialogActions onClose={onClose}>
        <button
          type="button"
          className={isSafe ? 'button button-primary' : 'button button-danger'}
          disabled={isPending}
          onClick={() => {
            if (!staysOpen) onClose();
            onConfirm();
          }}
        >
          {action}
        </button>
      </DialogActions>
    </Dialog>
  );
}
