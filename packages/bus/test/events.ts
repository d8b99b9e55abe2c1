import { randomUUID } from 'node:crypto';
import type { Event, EventType } from '@call-analysis/events';

/** By its number a test knows again what it told. */
export interface Body {
  readonly n: number;
  readonly text?: string | undefined;
}

/** The firm of every fact that is not said to be another firm's. */
export const firm = randomUUID();

/** A fact as of now, about a subject of its own unless told otherwise. */
export function happened(
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
