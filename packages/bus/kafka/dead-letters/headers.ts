import type { DeadLetterSink } from '../../delivery/give-up.ts';
import type { FailureReason } from '../../port.ts';
import { headerOf, type ReceivedMessage, REPLAY_TO } from '../message.ts';
import { putIntoOutbox } from '../outbox/outbox.ts';

/** Who gave up on a message of a dead-letter topic, why and when, in headers beside those of the fact. */
const DEAD_CONSUMER = 'dead-consumer';
const DEAD_CODE = 'dead-code';
const DEAD_MESSAGE = 'dead-message';
const DEAD_ATTEMPTS = 'dead-attempts';
const DEAD_AT = 'dead-at';
/** Says that the dead letter of this event and consumer that stands before it was replayed; ISO 8601. */
export const REPLAYED_AT = 'replayed-at';

const suffix = '.dlq';

/** Where the dead letters of a type of fact go. */
export function deadLetterTopic(type: string): string {
  return `${type}${suffix}`;
}

export function isDeadLetterTopic(topic: string): boolean {
  return topic.endsWith(suffix);
}

/** Sends what was given up to the topic of its dead letters, by the outbox, so that it cannot be lost on the way. */
export function toDeadLetterTopics(options: { readonly overflow: boolean }): DeadLetterSink {
  return async ({ query, schema }, consumer, event, reason) => {
    const topic = deadLetterTopic(event.type);
    const headers = headersOf(consumer, reason, new Date());
    await putIntoOutbox({ query }, schema, [{ event, topic, headers }], options);
  };
}

function headersOf(consumer: string, { code, message, attempts }: FailureReason, at: Date): Record<string, string> {
  return {
    [DEAD_CONSUMER]: consumer,
    [DEAD_CODE]: code,
    [DEAD_MESSAGE]: message,
    [DEAD_ATTEMPTS]: String(attempts),
    [DEAD_AT]: at.toISOString(),
  };
}

/** What `headersOf` wrote; undefined when the message is no dead letter. */
export function deathOf(
  message: ReceivedMessage,
): (FailureReason & { readonly consumer: string; readonly at: string }) | undefined {
  const consumer = headerOf(message, DEAD_CONSUMER);
  if (consumer === undefined) return undefined;
  return {
    consumer,
    code: headerOf(message, DEAD_CODE) ?? 'INTERNAL',
    message: headerOf(message, DEAD_MESSAGE) ?? '',
    attempts: Number(headerOf(message, DEAD_ATTEMPTS) ?? 1),
    at: headerOf(message, DEAD_AT) ?? '',
  };
}

/** The headers of the fact itself, for the one consumer that gave up on it. */
export function headersOfReplay(message: ReceivedMessage, consumer: string): Record<string, string> {
  return { ...headersWithout(message, (name) => name.startsWith('dead-')), [REPLAY_TO]: consumer };
}

/** The headers of the note that a dead letter was replayed. */
export function headersOfNote(message: ReceivedMessage, at: Date): Record<string, string> {
  return { ...headersWithout(message, (name) => name === 'ce_dataref'), [REPLAYED_AT]: at.toISOString() };
}

function headersWithout(message: ReceivedMessage, isLeftOut: (name: string) => boolean): Record<string, string> {
  const names = Object.keys(message.headers ?? {}).filter((name) => !isLeftOut(name));
  return Object.fromEntries(names.map((name) => [name, headerOf(message, name) ?? '']));
}
