import { useEffect, useRef } from 'react';
import { createStore } from '../store.ts';

/** Does something, as it was drawn last, when a target says one of these. */
export function useEvents<Kind extends Event>(
  target: EventTarget,
  names: readonly string[],
  act: (event: Kind) => void,
): void {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  const all = names.join(' ');
  useEffect(() => {
    const listener = (event: Event) => latest.current(event as Kind);
    for (const name of all.split(' ')) target.addEventListener(name, listener);
    return () => {
      for (const name of all.split(' ')) target.removeEventListener(name, listener);
    };
  }, [target, all]);
}

type Keys = Readonly<Record<string, () => void>>;
/** The keys of a page, each with what it does, as its users read them. */
export type KeyList = readonly (readonly [keys: string, text: string])[];

const STORED = 'console.keys';

/** The keys that open the search over everything. */
export const FIND_KEYS = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘ K' : 'Ctrl K';

const lists = createStore<readonly { readonly list: KeyList }[]>([]);
const areOn = createStore(localStorage.getItem(STORED) !== 'off');

/** Whether single letters, digits and signs act on the page. The browser remembers a person's choice. */
export function useLetterKeys(): [areOn: boolean, turn: (on: boolean) => void] {
  return [
    areOn.use(),
    (next) => {
      if (next) localStorage.removeItem(STORED);
      else localStorage.setItem(STORED, 'off');
      areOn.set(next);
    },
  ];
}

/** The keys of what is shown, in the order in which it appeared. */
export const useKeyLists = lists.use;

/** Describes keys while the component is shown. */
export function useKeyList(list: KeyList): void {
  const text = JSON.stringify(list);
  useEffect(() => {
    const entry = { list: JSON.parse(text) as KeyList };
    lists.set([...lists.get(), entry]);
    return () => lists.set(lists.get().filter((each) => each !== entry));
  }, [text]);
}

/**
 * Keys that act on the page: by `KeyboardEvent.key`. Not while the user types, nor with a modifier, nor under a dialog, nor
 * single characters where they are switched off (WCAG 2.1.4). Space and Enter keep their meaning on a focused control.
 */
export function useKeys(keys: Keys): void {
  useEvents<KeyboardEvent>(window, ['keydown'], (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (!areOn.get() && /^\S$/u.test(event.key)) return;
    if (document.querySelector('dialog[open], [popover]:popover-open') !== null) return;
    const target = event.target as HTMLElement;
    if (target.closest('input:not([type=checkbox], [type=range]), textarea, select, [contenteditable]') !== null)
      return;
    if ((event.key === ' ' || event.key === 'Enter') && target.closest('button, a, input') !== null) return;
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
}
