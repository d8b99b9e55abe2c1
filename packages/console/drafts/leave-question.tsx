import { useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { shellTexts } from '../app/shell-texts.ts';
import { Dialog } from '../widgets/dialog.tsx';
import { discardDraft, discardOpenDrafts, hasOpenDrafts } from './drafts.ts';

type Answer = (mayLeave: boolean) => void;

let asked: Answer | null = null;
const listeners = new Set<() => void>();

function become(next: Answer | null): void {
  asked = next;
  for (const listener of listeners) listener();
}

function ask(): Promise<boolean> {
  asked?.(false);
  return new Promise((resolve) => {
    become((mayLeave) => {
      become(null);
      resolve(mayLeave);
    });
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

/** The question, and the guard of every page: one for the whole console. */
export function LeaveQuestion() {
  const t = shellTexts.use();
  const client = useQueryClient();
  const answer = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asked,
  );
  useBlocker({
    shouldBlockFn: async ({ current, next }) => {
      const isSame =
        current.pathname === next.pathname && JSON.stringify(current.search) === JSON.stringify(next.search);
      return !isSame && !(await mayLeavePage());
    },
    // The browser asks in its own words.
    enableBeforeUnload: () => hasOpenDrafts() || client.isMutating() > 0,
  });
  if (answer === null) return null;
  return (
    <Dialog title={t('leave.title')} onClose={() => answer(false)}>
      <p>{t('leave.text')}</p>
      <div className="dialog-actions">
        <button type="button" className="button" onClick={() => answer(true)}>
          {t('leave.discard')}
        </button>
        <button type="button" className="button button-primary" onClick={() => answer(false)}>
          {t('leave.stay')}
        </button>
      </div>
    </Dialog>
  );
}
