import type { FailureReason } from '../../port.ts';
import { headerOf, type ReceivedMessage, REPLAY_TO } from '../message.ts';

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
  return { ...headersExcept(message, (name) => name === 'ce_dataref'), [REPLAYED_AT]: at.toISOString() };
}

function headersExcept(message: ReceivedMessage, isExcluded: (name: string) => boolean): Record<string, string> {
  const names = Object.keys(message.headers ?? {}).filter((name) => !isExcluded(name));
  return Object.fromEntries(names.map((name) => [name, headerOf(message, name) ?? '']));
}
