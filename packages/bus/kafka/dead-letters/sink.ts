import type { DeadLetterSink } from '../../delivery/give-up.ts';
import { putIntoOutbox } from '../outbox/outbox.ts';
import { deadLetterHeaders, deadLetterTopic } from './headers.ts';

/** Sends events that are given up to their dead-letter topic, by way of the outbox so that none can be lost. */
export function createDeadLetterSink(options: { readonly overflow: boolean }): DeadLetterSink {
  return async (queues, consumer, event, reason) => {
    const topic = deadLetterTopic(event.type);
    const headers = deadLetterHeaders(consumer, reason, new Date());
    await putIntoOutbox(queues, queues.schema, [{ event, topic, headers }], options);
  };
}
