import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { shellTexts } from '../i18n/texts.ts';
import { createStore } from '../store.ts';
import { Button } from './controls.tsx';
import { confirmed, type Question } from './dialog.tsx';
import { useFault } from './page.tsx';

interface Toast {
  readonly id: number;
  readonly text?: string;
  readonly error?: unknown;
  readonly isBad: boolean;
}

const SHOWN_MS = 6_000;
const SHOWN_ERROR_MS = 15_000;

const toasts = createStore<readonly Toast[]>([]);
let lastId = 0;

/** Says briefly that something was done. */
export function done(text: string): void {
  show({ id: ++lastId, text, isBad: false }, SHOWN_MS);
}

/** Says briefly that something could not be done, and why. */
export function failed(error: unknown): void {
  show({ id: ++lastId, error, isBad: true }, SHOWN_ERROR_MS);
}

/** The same in words of its own. */
export function notDone(text: string): void {
  show({ id: ++lastId, text, isBad: true }, SHOWN_ERROR_MS);
}

function show(toast: Toast, forMs: number): void {
  toasts.set([...toasts.get().slice(-2), toast]);
  setTimeout(() => dismiss(toast.id), forMs);
}

function dismiss(id: number): void {
  toasts.set(toasts.get().filter((each) => each.id !== id));
}

export function Toasts() {
  return (
    <div className="toasts" role="status">
      {toasts.use().map((toast) => (
        <OneToast key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

function OneToast({ toast }: { toast: Toast }) {
  const t = shellTexts.use();
  const fault = useFault(toast.error);
  return (
    <div className={toast.isBad ? 'toast toast-bad' : 'toast'}>
      <span className="foreign">{toast.text ?? fault}</span>
      <Button icon="close" kind="quiet" isSmall label={t('close')} onClick={() => dismiss(toast.id)} />
    </div>
  );
}

interface Options<Result> {
  /** What is fetched again. */
  readonly changes?: readonly QueryKey[];
  /** What is said then. */
  readonly says?: string;
  readonly onDone?: (result: Result) => unknown;
}

/** Something that a person does. It says why it did not work. */
export function useAction<Input = void, Result = unknown>(
  act: (input: Input) => Promise<Result>,
  { changes = [], says, onDone }: Options<Result> = {},
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSuccess: (result) => {
      if (says !== undefined) done(says);
      return onDone?.(result);
    },
    onError: failed,
    // Where it did not work, another person may have done something before.
    onSettled: () => Promise.all(changes.map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
}

/** As `useAction`, after a question. */
export function useAskedAction<Input = void, Result = unknown>(
  question: (input: Input) => Question,
  act: (input: Input) => Promise<Result>,
  options: Options<Result> = {},
) {
  const { mutate } = useAction(act, options);
  return (input: Input) => void confirmed(question(input)).then((isConfirmed) => isConfirmed && mutate(input));
}
