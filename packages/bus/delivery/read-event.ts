import { Envelope, type Event, type EventType } from '@call-analysis/events';
import { z } from 'zod';
import { unpack } from '../encoding/stored-event.ts';
import { type AnyRoute, Poison } from '../port.ts';
import { whyUnreadable } from './unreadable.ts';

/** By event type. */
export type Routes = ReadonlyMap<string, AnyRoute>;

type ReadEvent = { readonly route: AnyRoute; readonly event: Event } | { readonly poison: Poison };

/** Parses the envelope of a stored event; the body stays unparsed. */
export function readEnvelope(stored: unknown) {
  return Envelope.safeParse(unpack(stored));
}

/** Parses a stored event, envelope and body. Poison when it does not fit, because it never will. */
export function readEvent(routes: Routes, stored: unknown): ReadEvent {
  const why = whyUnreadable(stored);
  if (why !== undefined) return { poison: new Poison('NOT_AN_EVENT', why) };
  const envelope = readEnvelope(stored);
  if (!envelope.success) return { poison: new Poison('NOT_AN_EVENT', z.prettifyError(envelope.error)) };
  const route = routes.get(envelope.data.type);
  if (route === undefined) {
    return { poison: new Poison('NO_ROUTE', `The consumer has no route for ${envelope.data.type}.`) };
  }
  const body = route.event.body.safeParse(envelope.data.data);
  if (!body.success) return { poison: new Poison('BODY_MISFIT', z.prettifyError(body.error)) };
  return { route, event: { ...envelope.data, data: body.data } };
}

/** Parses an event for a listener; null if it is of another type or does not fit its schema. */
export function readForListener(type: EventType, wire: unknown): Event | null {
  const envelope = Envelope.safeParse(wire);
  if (!envelope.success || envelope.data.type !== type.type) return null;
  const body = type.body.safeParse(envelope.data.data);
  return body.success ? { ...envelope.data, data: body.data } : null;
}
