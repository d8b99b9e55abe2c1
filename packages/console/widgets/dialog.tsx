import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react';
import { shellTexts } from '../i18n/texts.ts';
import { createStore } from '../store.ts';
import { Button } from './controls.tsx';

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
  // An effect would close it after it is taken off the page, where it no longer returns the focus.
  useLayoutEffect(() => {
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
  /** The name of the button that leaves it. Absent: "Close", or "Cancel" beside a button that does something. */
  readonly leave?: string | undefined;
  /** The buttons that do something. */
  readonly children?: ReactNode;
}

/** The buttons at the end of a dialog. The first one leaves it and does nothing. */
export function DialogActions({ onClose, leave, children }: ActionsProps) {
  const shell = shellTexts.use();
  return (
    <div className="dialog-actions">
      <Button onClick={onClose}>{leave ?? shell(children === undefined ? 'close' : 'cancel')}</Button>
      {children}
    </div>
  );
}

export interface Question {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  /** It destroys nothing. */
  readonly isSafe?: boolean;
  /** The button that does nothing. Absent: "Cancel". */
  readonly stay?: string;
  /** What it is about. */
  readonly details?: ReactNode;
  /** No other question takes its place. */
  readonly isDue?: boolean;
}

const asked = createStore<(Question & { readonly answer: (isConfirmed: boolean) => void }) | null>(null);

/** Asks before something that cannot be undone, or that breaks what others use. A later question takes the place of one, or is not asked. */
export function confirmed(question: Question): Promise<boolean> {
  if (asked.get()?.isDue === true) return Promise.resolve(false);
  asked.get()?.answer(false);
  return new Promise((resolve) => {
    asked.set({
      ...question,
      answer(isConfirmed) {
        asked.set(null);
        resolve(isConfirmed);
      },
    });
  });
}

/** The question that is asked, one for the whole console. */
export function Confirmation() {
  const question = asked.use();
  // Nobody else who signs in is asked.
  useEffect(() => () => asked.get()?.answer(false), []);
  if (question === null) return null;
  const { title, text, action, isSafe = false, stay, details, answer } = question;
  return (
    <Dialog title={title} onClose={() => answer(false)}>
      <p className="foreign">{text}</p>
      {details}
      <DialogActions onClose={() => answer(false)} leave={stay}>
        <Button kind={isSafe ? 'primary' : 'danger'} onClick={() => answer(true)}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
