import { v7 as uuidv7 } from 'uuid';
import type { Event, EventType } from './envelope.ts';

/** The firm, the priority and the trace of an event. The event that it results from can be passed as its origin. */
export type EventOrigin = Pick<Event, 'firmuuid' | 'priority' | 'traceparent'>;

/** A new event with the present time. `source` is the publishing service, `subject` the uuid of what the event is about. */
export function createEvent<Body>(
  source: string,
  { type }: EventType<Body>,
  subject: string,
  { firmuuid, priority, traceparent }: EventOrigin,
  data: Body,
): Event<Body> {
  return { id: uuidv7(), source, type, time: new Date().toISOString(), subject, firmuuid, priority, traceparent, data };
}
