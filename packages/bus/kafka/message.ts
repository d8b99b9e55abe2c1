import { type Event, toWire } from '@call-analysis/events';
import { type FailureReason, Poison } from '../port.ts';

/**
 * An event as it is sent: CloudEvents 1.0 in the binary mode of its Kafka protocol binding, so that any consumer can
 * read it. Attributes are headers in UTF-8, the value is the body's JSON, and the key keeps the events about one
 * subject in one partition.
 */
export interface Message {
  /** The event's type, without the prefix. */
  readonly topic: string;
  readonly key: Buffer | string;
  readonly value: Buffer | null;
  readonly headers: Record<string, string>;
}

/** A message as it is read, from any producer. */
export interface ReceivedMessage {
  readonly value: Buffer | null;
  readonly headers?: Readonly<Record<string, Buffer | string | readonly (Buffer | string)[] | undefined>> | undefined;
}

/** The object key of a body that is too large for a message, whose value is null then: CloudEvents' claim check. */
export const DATA_REF = 'ce_dataref';
/** Only the consumer of this name takes the message. */
export const REPLAY_TO = 'replay-to';

/** The header of an attribute has this before its name. */
export const ATTRIBUTE_PREFIX = 'ce_';
export const SPEC_VERSION = '1.0';
export const CONTENT_TYPE = 'application/json';

export function toMessage(event: Event): Message {
  const { data, ...attributes } = toWire(event);
  const headers: Record<string, string> = { ce_specversion: SPEC_VERSION };
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) headers[`${ATTRIBUTE_PREFIX}${name}`] = String(value);
  }
  const json = JSON.stringify(data);
  if (json !== undefined) headers['content-type'] = CONTENT_TYPE;
  return { topic: event.type, key: event.subject, value: json === undefined ? null : Buffer.from(json), headers };
}

/** The same message with its body in the object store. */
export function withDataRef({ topic, key, headers }: Message, objectKey: string): Message {
  return { topic, key, value: null, headers: { ...headers, [DATA_REF]: objectKey } };
}

/** The text of a header; of the last one if several have the name. */
export function headerOf({ headers }: Pick<ReceivedMessage, 'headers'>, name: string): string | undefined {
  const value = headers?.[name];
  const last = Array.isArray(value)
    ? (value as readonly (Buffer | string)[]).at(-1)
    : (value as Buffer | string | undefined);
  return last?.toString();
}

/**
 * The stored form of the event in a message, to be parsed by Envelope. Throws Poison when the message is no CloudEvent
 * or its body is no JSON. Pass `body` when the message refers to it by `ce_dataref`.
 */
export function fromMessage(message: ReceivedMessage, body: Buffer | null = message.value): unknown {
  const version = headerOf(message, 'ce_specversion');
  if (version !== SPEC_VERSION) {
    throw new Poison(
      'NOT_AN_EVENT',
      version === undefined ? 'There is no ce_specversion.' : 'Its ce_specversion is not 1.0.',
    );
  }
  // Events of other producers have no `turn` and get the most urgent priority.
  const event: Record<string, unknown> = { turn: 0 };
  for (const name of Object.keys(message.headers ?? {})) {
    if (!name.startsWith(ATTRIBUTE_PREFIX) || name === 'ce_specversion' || name === DATA_REF) continue;
    const text = headerOf(message, name);
    if (text !== undefined) event[name.slice(ATTRIBUTE_PREFIX.length)] = text;
  }
  event['turn'] = Number(event['turn']);
  if (typeof event['time'] === 'string') event['time'] = inUtc(event['time']);
  if (body !== null && body.length > 0) event['data'] = parseBody(body, headerOf(message, 'content-type'));
  return event;
}

function parseBody(body: Buffer, contentType: string | undefined): unknown {
  if (contentType !== undefined && !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType)) {
    throw new Poison('NOT_AN_EVENT', 'Its body is not of the type application/json.');
  }
  try {
    return JSON.parse(body.toString());
  } catch (error) {
    // The parser's own message quotes the body.
    throw new Poison('NOT_AN_EVENT', `Its body is not JSON (${(error as Error).name}).`);
  }
}

/** CloudEvents allows any offset from UTC; our envelope allows none. */
function inUtc(time: string): string {
  if (!/[+-]\d\d:\d\d$/.test(time)) return time;
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? time : at.toISOString();
}

// The headers of a message in a dead-letter topic, in addition to the event's own.
const CONSUMER = 'dead-consumer';
const CODE = 'dead-code';
const MESSAGE = 'dead-message';
const ATTEMPTS = 'dead-attempts';
const GIVEN_UP_AT = 'dead-at';
/** Marks a message as the note that the earlier dead letter of the same event and consumer was replayed; ISO 8601. */
export const REPLAYED_AT = 'replayed-at';

const SUFFIX = '.dlq';

/** The topic of the dead letters of an event type, without the prefix. */
export function deadLetterTopic(type: string): string {
  return `${type}${SUFFIX}`;
}

export function isDeadLetterTopic(topic: string): boolean {
  return topic.endsWith(SUFFIX);
}

export function deadLetterHeaders(
  consumer: string,
  { code, message, attempts }: FailureReason,
  at: Date,
): Record<string, string> {
  return {
    [CONSUMER]: consumer,
    [CODE]: code,
    [MESSAGE]: message,
    [ATTEMPTS]: String(attempts),
    [GIVEN_UP_AT]: at.toISOString(),
  };
}

/** Reads what `deadLetterHeaders` wrote; undefined when the message is no dead letter. */
export function readDeadLetterHeaders(
  message: ReceivedMessage,
): (FailureReason & { readonly consumer: string; readonly at: string }) | undefined {
  const consumer = headerOf(message, CONSUMER);
  if (consumer === undefined) return undefined;
  return {
    consumer,
    code: headerOf(message, CODE) ?? 'INTERNAL',
    message: headerOf(message, MESSAGE) ?? '',
    attempts: Number(headerOf(message, ATTEMPTS) ?? 1),
    at: headerOf(message, GIVEN_UP_AT) ?? '',
  };
}

/** The event's own headers, addressed to the one consumer that gave it up. */
export function redeliveryHeaders(message: ReceivedMessage, consumer: string): Record<string, string> {
  return { ...headersExcept(message, (name) => name.startsWith('dead-')), [REPLAY_TO]: consumer };
}

/** The headers of the note that a dead letter was replayed. */
export function replayNoteHeaders(message: ReceivedMessage, at: Date): Record<string, string> {
  return { ...headersExcept(message, (name) => name === DATA_REF), [REPLAYED_AT]: at.toISOString() };
}

function headersExcept(message: ReceivedMessage, isExcluded: (name: string) => boolean): Record<string, string> {
  const names = Object.keys(message.headers ?? {}).filter((name) => !isExcluded(name));
  return Object.fromEntries(names.map((name) => [name, headerOf(message, name) ?? '']));
}
