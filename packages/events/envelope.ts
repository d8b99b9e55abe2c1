import { z } from 'zod';

/** A kind of fact: its name with version, which is also the Kafka topic, and the schema of its body. */
export interface EventType<Body = unknown> {
  readonly type: string;
  readonly body: z.ZodType<Body>;
}

/** The body that events of a type carry. */
export type BodyOf<Type> = Type extends EventType<infer Body> ? Body : never;

/**
 * One fact, as CloudEvents 1.0 names its attributes.
 * `turn` says how far back its work may stand in a queue: 0 goes first. A batch gives its later calls
 * higher turns, so that one firm's million calls do not stand before another's ten.
 */
export interface Event<Body = unknown> {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  /** The uuid of the call, or of whatever else the fact is about. */
  readonly subject: string;
  readonly firmuuid: string;
  readonly turn: number;
  /** W3C trace context of what caused it. */
  readonly traceparent?: string | undefined;
  /** The id of the request that caused it (api.md, section 1). */
  readonly requestid?: string | undefined;
  readonly data: Body;
}

/**
 * The envelope as it is read from a queue; the body is parsed by the schema of its type. Uuids are lower-case, as the
 * database writes them: by their text it is told what was erased, and where files lie.
 */
export const Envelope = z.object({
  id: z.uuid().toLowerCase(),
  source: z.string().min(1),
  type: z.string().min(1),
  time: z.iso.datetime(),
  subject: z.guid().toLowerCase(),
  firmuuid: z.uuid().toLowerCase(),
  turn: z.int().min(0),
  traceparent: z.string().optional(),
  requestid: z.string().max(128).optional(),
  data: z.unknown(),
});

export function eventType<Body>(type: string, body: z.ZodType<Body>): EventType<Body> {
  return { type, body };
}
