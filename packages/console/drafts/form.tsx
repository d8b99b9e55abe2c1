import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, type SyntheticEvent, useCallback, useState } from 'react';
import { saving } from '../api/connection.ts';
import { type Control, isControl } from '../i18n/faults/texts.ts';
import { shellTexts } from '../i18n/texts.ts';
import { Button } from '../widgets/controls.tsx';
import { Dialog, DialogActions } from '../widgets/dialog.tsx';
import { Fault } from '../widgets/page.tsx';
import { discardDraft, draftOf, keepDraft, leaveForm } from './drafts.ts';

/** What was typed and chosen in a form. */
export type Fields = ReturnType<typeof fieldsOf>;

function fieldsOf(element: HTMLFormElement, changed: ReadonlySet<string>) {
  const form = new FormData(element);
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const lines = (name: string) => text(name).split('\n');
  return {
    /** Without spaces at its ends; empty where there is no such field. */
    text,
    /** The lines of a text, each once. */
    lines: (name: string) => [...new Set(lines(name).map((line) => line.trim()))].filter((line) => line !== ''),
    /** The boxes of a name that are ticked. */
    all: (name: string) => form.getAll(name).map(String),
    /** Whether it differs from what was saved: another person may have changed the rest meanwhile. */
    isChanged: (name: string) => changed.has(name),
    /** The texts of these fields, of those that were changed. */
    changed: <Name extends string>(names: readonly Name[]) =>
      Object.fromEntries(names.filter((name) => changed.has(name)).map((name) => [name, text(name)])) as {
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

/**
 * A form whose fields have names and default values. It keeps what is typed until it is saved. Spread `form` on it.
 */
export function useForm<Result>({ draft, save, onSaved, changes, isRepeatable = true }: Options<Result>) {
  const client = useQueryClient();
  /** The names of the fields that differ from their defaults. */
  const [changed, setChanged] = useState<ReadonlySet<string>>(new Set());
  const ref = useCallback(
    (element: HTMLFormElement | null) => {
      const kept = draftOf(draft) as Kept | undefined;
      if (element === null || kept === undefined) return;
      for (const control of controlsOf(element)) restore(control, kept);
      setChanged(keepChanged(draft, element));
    },
    [draft],
  );
  const saved = useMutation({
    ...saving,
    retry: isRepeatable && saving.retry,
    mutationFn: save,
    onSuccess: (result) => {
      discardDraft(draft);
      onSaved?.(result);
      if (changes !== undefined) void client.invalidateQueries({ queryKey: changes });
    },
  });
  return {
    form: {
      ref,
      onInput: ({ currentTarget }: SyntheticEvent<HTMLFormElement>) => setChanged(keepChanged(draft, currentTarget)),
      onSubmit: (event: SyntheticEvent<HTMLFormElement>) => {
        event.preventDefault();
        if (!saved.isPending) saved.mutate(fieldsOf(event.currentTarget, changed));
      },
    },
    isChanged: changed.size > 0,
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

type Kept = [name: string, value: string][];

/** Keeps what differs from the defaults. Returns the names of these fields. */
function keepChanged(draft: string, form: HTMLFormElement): ReadonlySet<string> {
  const names = controlsOf(form).flatMap((control) => (isDefault(control) ? [] : [control.name]));
  if (names.length === 0) discardDraft(draft);
  else keepDraft(draft, [...new FormData(form)]);
  return new Set(names);
}

function controlsOf(form: HTMLFormElement): Control[] {
  return [...form.elements].filter((each): each is Control => isControl(each) && each.name !== '');
}

function isDefault(control: Control): boolean {
  if (control instanceof HTMLSelectElement) {
    const first = [...control.options].find(({ defaultSelected }) => defaultSelected) ?? control.options[0];
    return control.value === (first?.value ?? '');
  }
  if (isBox(control)) return control.checked === control.defaultChecked;
  return control.value === control.defaultValue;
}

function restore(control: Control, kept: Kept): void {
  if (isBox(control)) control.checked = kept.some(([name, value]) => name === control.name && value === control.value);
  else control.value = kept.find(([name]) => name === control.name)?.[1] ?? control.value;
}

function isBox(control: Control): control is HTMLInputElement {
  return control instanceof HTMLInputElement && (control.type === 'checkbox' || control.type === 'radio');
}
