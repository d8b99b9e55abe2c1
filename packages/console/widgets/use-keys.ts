import { useEffect, useRef } from 'react';

type Keys = Readonly<Record<string, () => void>>;

/**
 * Keys that act on the page: by `KeyboardEvent.key`. Not while the user types, nor with a modifier, nor under a dialog.
 * Space and Enter keep their meaning on a focused control.
 */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (document.querySelector('dialog[open], [popover]:popover-open') !== null) return;
      const target = event.target as HTMLElement;
      if (target.closest('input:not([type=checkbox], [type=range]), textarea, select, [contenteditable]') !== null)
        return;
      if ((event.key === ' ' || event.key === 'Enter') && target.closest('button, a, input') !== null) return;
      const act = latest.current[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
