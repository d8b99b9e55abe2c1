import { type ReactNode, useEffect, useId, useRef } from 'react';
import { shellTexts } from '../app/shell-texts.ts';

interface Props {
  readonly title: string;
  readonly isWide?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A modal dialog: the browser keeps the focus in it, closes it with Escape and returns the focus. */
export function Dialog({ title, isWide = false, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={isWide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={({ target, currentTarget }) => {
        if (target === currentTarget) onClose();
      }}
    >
      <div className="dialog-content">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface ActionsProps {
  readonly onClose: () => void;
  /** `close` where there is nothing that could be canceled. */
  readonly leave?: 'cancel' | 'close';
  /** The buttons that do something. */
  readonly children?: ReactNode;
}

/** The buttons at the end of a dialog. The first one leaves it and does nothing. */
export function DialogActions({ onClose, leave = 'cancel', children }: ActionsProps) {
  const shell = shellTexts.use();
  return (
    <div className="dialog-actions">
      <button type="button" className="button" onClick={onClose}>
        {shell(leave)}
      </button>
      {children}
    </div>
  );
}
