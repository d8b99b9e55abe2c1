import { createHash } from 'node:crypto';
import { Envelope, type Event, type EventType } from '@call-analysis/events';
import type { JobInsert } from 'pg-boss';
import { z } from 'zod';
import { unpack } from '../encoding/stored-event.ts';
import { type AnyRoute, Poison } from '../port.ts';

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

/** A message that is no event. It becomes a dead letter that contains the message, so that someone can find out why. */
export interface Unreadable {
  readonly why: string;
  /** Where it was read, or its event id; the same origin gives the same dead letter. */
  readonly origin: string;
  readonly message: Readonly<Record<string, unknown>>;
}

const Stored = z.object({ unreadable: z.string() });

/** A job for the message; it fails at its first attempt. */
export function unreadableJob(consumer: string, { why, origin, message }: Unreadable): JobInsert {
  // Base64, because jsonb does not take every text.
  const raw = Buffer.from(JSON.stringify(message)).toString('base64');
  return {
    id: uuidFrom(`${consumer} ${origin}`),
    data: { unreadable: why.replaceAll('\u0000', '').toWellFormed(), place: origin, raw },
    group: { id: 'unreadable' },
  };
}

/** Why the message of an `unreadableJob` is no event; undefined for other jobs. */
function whyUnreadable(stored: unknown): string | undefined {
  return Stored.safeParse(stored).data?.unreadable;
}

/** A uuid derived from the text. */
function uuidFrom(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
