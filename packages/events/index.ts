import type { DeclaredEventType, Publisher } from './envelope.ts';
import * as eventTypes from './event-types.ts';

export * from './analysis.ts';
export * from './envelope.ts';
export * from './event-types.ts';
export * from './scorecard.ts';
export * from './transcript.ts';

/** Every event type, by name. */
export const declaredEvents: readonly DeclaredEventType[] = Object.values<unknown>(eventTypes)
  .filter((each): each is DeclaredEventType => typeof each === 'object' && each !== null && 'publishers' in each)
  .toSorted((one, other) => (one.type < other.type ? -1 : 1));

/** The event types that a service publishes: their topics are created, and its user may write to them. */
export function publishedBy(publisher: Publisher): DeclaredEventType[] {
  return declaredEvents.filter(({ publishers }) => publishers.includes(publisher));
}
