import { randomUUID } from 'node:crypto';
import type { Event, EventType } from '@call-analysis/events';

/** A test recognises its events by their number. */
export interface Body {
  readonly n: number;
  readonly text?: string | undefined;
}

/** The firm of every event, by default. */
export const firm = randomUUID();

/** An event with the present time and, by default, a new subject. */
export function newEvent(
  { type }: Pick<EventType, 'type'>,
  n: number,
  { text, ...attributes }: Partial<Omit<Event, 'data'>> & { readonly text?: string } = {},
): Event<Body> {
  return {
    id: randomUUID(),
    source: 'test',
    type,
    time: new Date().toISOString(),
    subject: randomUUID(),
    firmuuid: firm,
    priority: 0,
    ...attributes,
    data: text === undefined ? { n } : { n, text },
  };
}

export function numberOf(event: Event): number {
  return (event.data as Body).n;
}

/** 0 to `count` - 1. */
export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}
