import { useEffect, useRef } from 'react';

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
