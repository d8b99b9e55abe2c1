import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';

/** Any uuid that has the form, of whatever version, in lower case: whether there is such a thing is for its owner to say. */
export const Uuid = z
  .guid({ error: ({ code }) => (code === 'invalid_format' ? 'must be a UUID' : undefined) })
  .toLowerCase();

/** The definition of an event type. */
export interface EventType<Body = unknown> {
  /** The name with its version, which is also the Kafka topic. */
  readonly type: string;
  readonly body: z.ZodType<Body>;
  /** The name of the subject in log lines. Default `subject`. */
  readonly subjectField?: string;
}

/** Who publishes events: the services, and the admin command. */
export type Publisher = 'key-management' | 'ingest' | 'audio' | 'transcription' | 'analysis' | 'webhooks' | 'admin';

/** An event type of this system, with what its readers have to know (docs/events.md). */
export interface DeclaredEventType<Body = unknown> extends EventType<Body> {
  /** What happened, and what follows from it. */
  readonly description: string;
  /** What the subject is, which is the key of the messages: `call`. */
  readonly subject: string;
  readonly publishers: readonly Publisher[];
  /** `public`: other systems may rely on it. `internal`: it may be replaced with any release. */
  readonly audience: 'public' | 'internal';
}

/** The body of the events of a type. */
export type BodyOf<Type> = Type extends EventType<infer Body> ? Body : never;

/**
 * Something that happened, published by one service for others. Attributes are named as in CloudEvents 1.0.
 * Lower `priority` numbers are delivered first: 0 is the most urgent. The later calls of a batch get higher numbers, so
 * that one firm's million calls do not delay another firm's ten.
 */
export interface Event<Body = unknown> {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  /** The uuid of what the event is about, such as a call. */
  readonly subject: string;
  readonly firmuuid: string;
  readonly priority: number;
  /** W3C trace context of the work that published it. */
  readonly traceparent?: string | undefined;
  /** The id of the request that it results from (docs/api.md, "Errors"). */
  readonly requestid?: string | undefined;
  readonly data: Body;
}

/** An event as queues and topics hold it: `priority` is stored as `turn`, the name that every release reads. */
export type WireEvent<Body = unknown> = Omit<Event<Body>, 'priority'> & { readonly turn: number };

/**
 * Parses the envelope of a stored event; the schema of its type parses the body. UUIDs become lower-case, as the database
 * writes them, because tombstones and object keys are compared as text.
 */
export const Envelope = z
  .object({
    id: Uuid.describe('The id of the event, and of its repetitions: an event can be delivered more than once.'),
    source: z.string().min(1).describe('The publisher.'),
    type: z.string().min(1).describe('The name of the event with its version.'),
    time: z.iso.datetime().describe('When it was published, in UTC.'),
    subject: Uuid.describe('What the event is about.'),
    firmuuid: Uuid.describe('The firm that the event belongs to.'),
    turn: z.int().min(0).describe('The priority among events that wait: lower numbers are more urgent.'),
    traceparent: z.string().optional().describe('The W3C trace context of the work that published it.'),
    requestid: z
      .string()
      .max(128)
      .optional()
      .describe('The `x-request-id` of the request to the API that it results from.'),
    data: z.unknown(),
  })
  .transform(fromWire);

/** The stored form of an event. */
export function toWire<Body>({ priority, ...attributes }: Event<Body>): WireEvent<Body> {
  return { ...attributes, turn: priority } as WireEvent<Body>;
}

/** Reverses `toWire`. */
export function fromWire<Body>({ turn, ...attributes }: WireEvent<Body>): Event<Body> {
  return { ...attributes, priority: turn } as Event<Body>;
}

export function eventType<Body>(
  type: string,
  body: z.ZodType<Body>,
  options: Pick<EventType, 'subjectField'> = {},
): EventType<Body> {
  return { type, body, ...options };
}

/** An event type of this system, as `event-types.ts` declares them. */
export function declareEvent<Body>(
  type: string,
  body: z.ZodType<Body>,
  declaration: Omit<DeclaredEventType<Body>, 'type' | 'body'>,
): DeclaredEventType<Body> {
  return { type, body, ...declaration };
}

/**
 * The firm, the priority (default: 0) and the trace of an event. The event that it results from can be passed as its
 * origin; without a trace, `publish` adds that of the work that publishes it.
 */
export type EventOrigin = Pick<Event, 'firmuuid' | 'traceparent'> & Partial<Pick<Event, 'priority'>>;

/** A new event with the present time. `source` is the publishing service, `subject` the uuid of what the event is about. */
export function createEvent<Body>(
  source: string,
  { type }: EventType<Body>,
  subject: string,
  { firmuuid, priority = 0, traceparent }: EventOrigin,
  data: Body,
): Event<Body> {
  return { id: uuidv7(), source, type, time: new Date().toISOString(), subject, firmuuid, priority, traceparent, data };
}
