import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode, SyntheticEvent } from 'react';
import { saving } from '../api/query-client.ts';
import { shellTexts } from '../i18n/texts.ts';
import { Button } from '../widgets/controls.tsx';
import { Dialog, DialogActions } from '../widgets/dialog.tsx';
import { Fault } from '../widgets/page.tsx';
import { leaveForm } from './leave-question.ts';
import { useFormDraft } from './use-form-draft.ts';

/** What was typed and chosen in a form. */
export interface Fields {
  /** Without spaces at its ends; empty where there is no such field. */
  text(name: string): string;
  /** The lines of a text, each once. */
  lines(name: string): string[];
  /** The boxes of a name that are ticked. */
  all(name: string): string[];
  /** Whether it differs from what was saved: another person may have changed the rest meanwhile. */
  isChanged(name: string): boolean;
  /** The texts of these fields, of those that were changed. */
  changed<Name extends string>(names: readonly Name[]): { [Each in Name]?: string };
}

function fieldsOf(element: HTMLFormElement, changed: ReadonlySet<string>): Fields {
  const form = new FormData(element);
  const text = (name: string) => String(form.get(name) ?? '').trim();
  return {
    text,
    lines: (name) => [
      ...new Set(
        text(name)
          .split('\n')
          .map((line) => line.trim())
          .filter((line) => line !== ''),
      ),
    ],
    all: (name) => form.getAll(name).map(String),
    isChanged: (name) => changed.has(name),
    changed: <Name extends string>(names: readonly Name[]) =>
      Object.fromEntries(names.flatMap((name) => (changed.has(name) ? [[name, text(name)]] : []))) as {
        [Each in Name]?: string;
      },
  };
}

interface Options<Result> {
  /** The name of its draft. */
  readonly draft: string;
  readonly save: (fields: Fields) => Promise<Result>;
  readonly onSaved?: ((result: Result) => void) | undefined;
  /** What is fetched again. */
  readonly changes?: QueryKey;
  /** Sending it twice is the same as once, so that it is sent until it is answered. What is created would be there twice. */
  readonly isRepeatable?: boolean;
}

/** A form that keeps what is typed until it is saved. Spread `form` on it. */
export function useForm<Result>({ draft: key, save, onSaved, changes, isRepeatable = true }: Options<Result>) {
  const client = useQueryClient();
  const draft = useFormDraft(key);
  const saved = useMutation({
    ...saving,
    retry: isRepeatable && saving.retry,
    mutationFn: save,
    onSuccess: (result) => {
      draft.discard();
      onSaved?.(result);
      if (changes !== undefined) void client.invalidateQueries({ queryKey: changes });
    },
  });
  const onSubmit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!saved.isPending) saved.mutate(fieldsOf(event.currentTarget, draft.changed));
  };
  return {
    form: { ...draft.form, onSubmit },
    isChanged: draft.isChanged,
    isSaving: saved.isPending,
    fault: saved.isError && <Fault error={saved.error} />,
  };
}

interface DialogProps<Result> extends Options<Result> {
  readonly title: string;
  /** The name of the button that sends it. Absent: "Save". */
  readonly action?: string;
  readonly onClose: () => void;
  /** Before the fields. */
  readonly about?: ReactNode;
  readonly children: ReactNode;
}

/** A form in a dialog, which closes when it is saved, and is not left without a question before. */
export function FormDialog<Result>({ title, action, onClose, about, children, ...options }: DialogProps<Result>) {
  const shell = shellTexts.use();
  const { form, isChanged, isSaving, fault } = useForm({
    ...options,
    onSaved(result) {
      onClose();
      options.onSaved?.(result);
    },
  });
  const leave = () => void leaveForm(options.draft, isChanged, onClose);
  return (
    <Dialog title={title} onClose={leave}>
      {about}
      <form className="form" {...form}>
        {children}
        {fault}
        <DialogActions onClose={leave}>
          <Button kind="primary" isSubmit disabled={isSaving}>
            {action ?? shell('save')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
