import { useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useState } from 'react';
import { shellTexts } from '../i18n/texts.ts';
import { confirmed } from '../widgets/dialog.tsx';
import { discardDraft, discardOpenDrafts, hasOpenDrafts, useDraft } from './drafts.ts';

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
  if (!hasOpenDrafts()) return true;
  if (!(await ask())) return false;
  discardOpenDrafts();
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
    enableBeforeUnload: () => hasOpenDrafts() || client.isMutating() > 0,
  });
}
