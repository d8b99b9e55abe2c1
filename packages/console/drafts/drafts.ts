import { useCallback, useEffect } from 'react';
import { currentSession } from '../session/session.ts';
import { createStore } from '../store.ts';

/**
 * What a person has typed or chosen and not saved, by the name of its form. It is kept in the tab, so that it survives a
 * reload and a new sign-in, and is no other user's.
 */
const PREFIX = 'console.draft.';

/** Those that were changed on the page that is open: it is not left without a question. */
const open = new Set<string>();
/** Counts their changes. */
const changes = createStore(0);

function storageKey(key: string): string {
  return `${PREFIX}${currentSession()?.userUuid ?? ''}.${key}`;
}

export function draftOf(key: string): unknown {
  const text = sessionStorage.getItem(storageKey(key));
  return text === null ? undefined : (JSON.parse(text) as unknown);
}

/** With `isOpen: false` it only survives a reload: something else cares for it on the page. */
export function keepDraft(key: string, value: unknown, { isOpen = true } = {}): void {
  if (isOpen) open.add(key);
  try {
    sessionStorage.setItem(storageKey(key), JSON.stringify(value));
  } catch {
    // There is no room. The page still asks before it is left.
  }
  tell();
}

export function discardDraft(key: string): void {
  open.delete(key);
  sessionStorage.removeItem(storageKey(key));
  tell();
}

export function discardOpenDrafts(): void {
  for (const key of open) discardDraft(key);
}

export function hasOpenDrafts(): boolean {
  return open.size > 0;
}

function tell(): void {
  changes.set(changes.get() + 1);
}

/** A form's value: what was typed and not saved, else what is saved. */
export function useDraft<Value>(key: string, saved: Value) {
  changes.use();
  const draft = draftOf(key) as Value | undefined;
  const isChanged = draft !== undefined;
  useEffect(() => {
    if (isChanged) open.add(key);
  }, [key, isChanged]);
  return {
    value: draft ?? saved,
    /** Whether it differs from what is saved. */
    isChanged,
    set: (value: Value) =>
      JSON.stringify(value) === JSON.stringify(saved) ? discardDraft(key) : keepDraft(key, value),
    /** After it was saved, or when it is given up. */
    discard: useCallback(() => discardDraft(key), [key]),
  };
}
