import { useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { shellTexts } from '../i18n/texts.ts';
import { currentSession, onUserChange } from '../session/session.ts';
import { createStore } from '../store.ts';
import { confirmed } from '../widgets/dialog.tsx';

/**
 * What a person has typed or chosen and not saved, by the name of its form. It is kept in the tab, so that it survives a
 * reload and a new sign-in, and is no other user's.
 */
const PREFIX = 'console.draft.';

/** Those that were changed on the page that is open: it is not left without a question. */
const open = new Set<string>();
onUserChange(() => open.clear());
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

function ask(): Promise<boolean> {
  const t = shellTexts.translate;
  return confirmed({
    title: t('leave.title'),
    text: t('leave.text'),
    action: t('leave.discard'),
    stay: t('leave.stay'),
  });
}

/** Whether the page may be left. Asks where something on it is not saved, and forgets that if the answer is yes. */
export async function mayLeavePage(): Promise<boolean> {
  if (open.size === 0) return true;
  if (!(await ask())) return false;
  for (const key of open) discardDraft(key);
  return true;
}

/** Leaves a form, after a question if it is not saved. */
export async function leaveForm(key: string, isChanged: boolean, leave: () => void): Promise<void> {
  if (isChanged && !(await ask())) return;
  discardDraft(key);
  leave();
}

/** A text that a person may write: a draft that is kept, and not left without a question. */
export function useWriting(draftKey: string) {
  const { value: text, isChanged, set, discard } = useDraft(draftKey, '');
  const [isOpen, setOpen] = useState(isChanged);
  const close = () => setOpen(false);
  return {
    isOpen,
    open: () => setOpen(true),
    text,
    set,
    /** After it was sent. */
    done: () => {
      discard();
      close();
    },
    leave: () => void leaveForm(draftKey, isChanged, close),
  };
}

/** Guards every page: one for the whole console. */
export function useLeaveQuestion(): void {
  const client = useQueryClient();
  useBlocker({
    shouldBlockFn: async ({ current, next }) => {
      const isSame =
        current.pathname === next.pathname && JSON.stringify(current.search) === JSON.stringify(next.search);
      return !isSame && !(await mayLeavePage());
    },
    // The browser asks in its own words.
    enableBeforeUnload: () => open.size > 0 || client.isMutating() > 0,
  });
}
