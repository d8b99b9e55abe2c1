import { v7 as uuidv7 } from 'uuid';
import type { Event, EventType } from './envelope.ts';

/** The firm an event belongs to, how urgent its work is and what caused it; an event that caused it fits too. */
export type EventOrigin = Pick<Event, 'firmuuid' | 'priority' | 'traceparent'>;

/** A new event of this moment. `source` is the publishing service, `subject` the uuid of what the event is about. */
export function createEvent<Body>(
  source: string,
  { type }: EventType<Body>,
  subject: string,
  { firmuuid, priority, traceparent }: EventOrigin,
  data: Body,
): Event<Body> {
  return { id: uuidv7(), source, type, time: new Date().toISOString(), subject, firmuuid, priority, traceparent, data };
}
