import { useCallback, useState } from 'react';
import { discardDraft, draftOf, keepDraft } from './drafts.ts';

type Fields = [name: string, value: string][];

/**
 * Keeps what is typed into a form whose fields have names and default values. Spread `form` on the form. `changed` are the
 * names of the fields that differ from their defaults.
 */
export function useFormDraft(key: string) {
  const [changed, setChanged] = useState<ReadonlySet<string>>(new Set());
  const note = useCallback(
    (element: HTMLFormElement, isTyped: boolean) => {
      const names = changedFields(element);
      setChanged(names);
      if (names.size === 0) discardDraft(key);
      else if (isTyped) keepDraft(key, fieldsOf(element));
    },
    [key],
  );
  const ref = useCallback(
    (element: HTMLFormElement | null) => {
      const kept = draftOf(key) as Fields | undefined;
      if (element === null || kept === undefined) return;
      for (const control of controlsOf(element)) restore(control, kept);
      note(element, true);
    },
    [key, note],
  );
  return {
    form: { ref, onInput: ({ currentTarget }: React.SyntheticEvent<HTMLFormElement>) => note(currentTarget, true) },
    changed,
    isChanged: changed.size > 0,
    /** After it was saved, or when it is given up. */
    discard: useCallback(() => discardDraft(key), [key]),
  };
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

function controlsOf(form: HTMLFormElement): Control[] {
  return [...form.elements].filter(
    (each): each is Control =>
      (each instanceof HTMLInputElement || each instanceof HTMLSelectElement || each instanceof HTMLTextAreaElement) &&
      each.name !== '',
  );
}

function fieldsOf(form: HTMLFormElement): Fields {
  return [...new FormData(form)].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
}

function changedFields(form: HTMLFormElement): ReadonlySet<string> {
  return new Set(controlsOf(form).flatMap((control) => (isDefault(control) ? [] : [control.name])));
}

function isDefault(control: Control): boolean {
  if (control instanceof HTMLSelectElement) {
    const first = [...control.options].find(({ defaultSelected }) => defaultSelected) ?? control.options[0];
    return control.value === (first?.value ?? '');
  }
  if (isBox(control)) return control.checked === control.defaultChecked;
  return control.value === control.defaultValue;
}

function restore(control: Control, kept: Fields): void {
  if (isBox(control)) control.checked = kept.some(([name, value]) => name === control.name && value === control.value);
  else control.value = kept.find(([name]) => name === control.name)?.[1] ?? control.value;
}

function isBox(control: Control): control is HTMLInputElement {
  return control instanceof HTMLInputElement && (control.type === 'checkbox' || control.type === 'radio');
}
