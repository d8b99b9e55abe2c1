import { type Event, toWire } from '@call-analysis/events';
import { Poison } from '../port.ts';
import { textOf } from '../encoding/text.ts';

/**
 * A fact as it is sent: CloudEvents 1.0 in the binary mode of its Kafka protocol binding, so that any consumer can read
 * it. Attributes are headers, UTF-8; the value is the JSON of the body; the key keeps what is about one subject in one
 * partition.
 */
export interface Message {
  /** The type of the fact, without a prefix. */
  readonly topic: string;
  readonly key: Buffer | string;
  readonly value: Buffer | null;
  readonly headers: Record<string, string>;
}

/** What comes back, whoever sent it. */
export interface ReceivedMessage {
  readonly value: Buffer | null;
  readonly headers?: Readonly<Record<string, Buffer | string | readonly (Buffer | string)[] | undefined>> | undefined;
}

/** The object key of a body that is too large for a message; the value is null then. CloudEvents calls it a claim check. */
export const DATA_REF = 'ce_dataref';
/** Only this consumer takes the message. */
export const REPLAY_TO = 'replay-to';

const prefix = 'ce_';
const specversion = '1.0';
const contentType = 'application/json';

export function toMessage(event: Event): Message {
  const { data, ...attributes } = toWire(event);
  const headers: Record<string, string> = { ce_specversion: specversion };
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) headers[`${prefix}${name}`] = String(value);
  }
  const json = JSON.stringify(data);
  if (json === undefined) return { topic: event.type, key: event.subject, value: null, headers };
  headers['content-type'] = contentType;
  return { topic: event.type, key: event.subject, value: Buffer.from(json), headers };
}

/** The same fact with its body elsewhere. */
export function withDataRef({ topic, key, headers }: Message, objectKey: string): Message {
  return { topic, key, value: null, headers: { ...headers, [DATA_REF]: objectKey } };
}

/** One header's text; the last one when there are several of the name. */
export function headerOf({ headers }: Pick<ReceivedMessage, 'headers'>, name: string): string | undefined {
  const value = headers?.[name];
  const last = Array.isArray(value)
    ? (value as readonly (Buffer | string)[]).at(-1)
    : (value as Buffer | string | undefined);
  return last?.toString();
}

/**
 * The envelope that a message carries, to be parsed by Envelope. Poison when it is no CloudEvent, or its body is no JSON.
 * `body` is what `ce_dataref` leads to, where there is one.
 */
export function fromMessage(message: ReceivedMessage, body: Buffer | null = message.value): unknown {
  const version = headerOf(message, 'ce_specversion');
  if (version !== specversion) {
    throw new Poison(
      'NOT_AN_EVENT',
      version === undefined ? 'There is no ce_specversion.' : 'Its ce_specversion is not 1.0.',
    );
  }
  const event: Record<string, unknown> = { turn: 0 };
  for (const name of Object.keys(message.headers ?? {})) {
    if (!name.startsWith(prefix) || name === 'ce_specversion' || name === DATA_REF) continue;
    const text = headerOf(message, name);
    if (text !== undefined) event[name.slice(prefix.length)] = text;
  }
  // Others know nothing of turns: what they send goes first.
  event['turn'] = Number(event['turn']);
  if (typeof event['time'] === 'string') event['time'] = inUtc(event['time']);
  if (body !== null && body.length > 0) event['data'] = bodyOf(body, headerOf(message, 'content-type'));
  return event;
}

function bodyOf(body: Buffer, type: string | undefined): unknown {
  if (type !== undefined && !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new Poison('NOT_AN_EVENT', 'Its body is not of the type application/json.');
  }
  try {
    return JSON.parse(textOf(body));
  } catch (error) {
    // What JSON.parse says quotes the body.
    throw new Poison('NOT_AN_EVENT', `Its body is no JSON (${(error as Error).name}).`);
  }
}

/** CloudEvents takes any offset from UTC, our envelope none. */
function inUtc(time: string): string {
  if (!/[+-]\d\d:\d\d$/.test(time)) return time;
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? time : at.toISOString();
}
