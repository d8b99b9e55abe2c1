import { Envelope, type Event } from '@call-analysis/events';
import { z } from 'zod';
import { type AnyRoute, Poison } from '../port.ts';
import { unpack } from '../encoding/stored-event.ts';
import { whyUnreadable } from './unreadable.ts';

export type Routes = ReadonlyMap<string, AnyRoute>;

export type ReadEvent = { readonly route: AnyRoute; readonly event: Event } | { readonly poison: Poison };

/** The envelope of what came from a queue, its body in plain form. */
export function readEnvelope(stored: unknown) {
  return Envelope.safeParse(unpack(stored));
}

/** Parses what came from a queue, envelope and body. What does not fit will never fit. */
export function readEvent(routes: Routes, stored: unknown): ReadEvent {
  const why = whyUnreadable(stored);
  if (why !== undefined) return { poison: new Poison('NOT_AN_EVENT', why) };
  const envelope = readEnvelope(stored);
  if (!envelope.success) return { poison: new Poison('NOT_AN_EVENT', z.prettifyError(envelope.error)) };
  const route = routes.get(envelope.data.type);
  if (route === undefined) {
    return { poison: new Poison('NO_ROUTE', `The consumer does not hear ${envelope.data.type}.`) };
  }
  const body = route.event.body.safeParse(envelope.data.data);
  if (!body.success) return { poison: new Poison('BODY_MISFIT', z.prettifyError(body.error)) };
  return { route, event: { ...envelope.data, data: body.data } };
}
