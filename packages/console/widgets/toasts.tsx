import { useSyncExternalStore } from 'react';
import { shellTexts } from '../app/shell-texts.ts';
import { Icon } from './icon.tsx';
import { useFailure } from './states.tsx';

interface Toast {
  readonly id: number;
  readonly text?: string;
  readonly error?: unknown;
}

const SHOWN_MS = 6_000;
const SHOWN_ERROR_MS = 15_000;

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

/** Says briefly that something was done. */
export function done(text: string): void {
  show({ id: ++lastId, text }, SHOWN_MS);
}

/** Says briefly that something could not be done, and why. */
export function failed(error: unknown): void {
  show({ id: ++lastId, error }, SHOWN_ERROR_MS);
}

function show(toast: Toast, forMs: number): void {
  change([...toasts.slice(-2), toast]);
  setTimeout(() => dismiss(toast.id), forMs);
}

function dismiss(id: number): void {
  change(toasts.filter((each) => each.id !== id));
}

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="status">
      {shown.map((toast) => (
        <OneToast key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

function OneToast({ toast }: { toast: Toast }) {
  const t = shellTexts.use();
  const failure = useFailure(toast.error);
  return (
    <div className={toast.text === undefined ? 'toast toast-bad' : 'toast'}>
      <span className="foreign">{toast.text ?? `${failure.title}. ${failure.text}`}</span>
      <button
        type="button"
        className="button button-quiet button-icon button-small"
        aria-label={t('close')}
        onClick={() => dismiss(toast.id)}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
