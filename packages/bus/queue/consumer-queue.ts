import type { SubscriptionOptions } from '../port.ts';
import type { Queues } from './queues.ts';

const DAY_SECONDS = 86_400;
const LONGEST_WAIT_SECONDS = 10 * 365 * DAY_SECONDS;
const DEAD_LETTERS_KEPT_SECONDS = 30 * DAY_SECONDS;
export const LARGEST_INT = 2 ** 31 - 1;

const SUFFIX = '.dead';

/** The queue that holds a consumer's dead letters. */
export function deadLetterQueueOf(consumer: string): string {
  return `${consumer}${SUFFIX}`;
}

export function isDeadLetterQueue(queue: string): boolean {
  return queue.endsWith(SUFFIX);
}

export function consumerOf(deadLetterQueue: string): string {
  return deadLetterQueue.slice(0, -SUFFIX.length);
}

/**
 * Creates the queues of a consumer and of its dead letters, or updates options that differ. A start that changes nothing only
 * reads: a process has dozens of queues, and each of the other statements takes a lock.
 */
export async function createConsumerQueues(
  { boss, leaseSeconds }: Queues,
  { consumer, retries = 5, retryDelaySeconds = 1 }: SubscriptionOptions,
): Promise<void> {
  const deadLetters = deadLetterQueueOf(consumer);
  const shared = {
    // The lease is the heartbeat. This only bounds a handler that hangs.
    expireInSeconds: DAY_SECONDS,
    heartbeatSeconds: leaseSeconds,
    retentionSeconds: LONGEST_WAIT_SECONDS,
    // Every large batch is a backlog; it is no reason for a warning.
    warningQueueSize: LARGEST_INT,
  };
  const deadLetterOptions = {
    ...shared,
    retryLimit: LARGEST_INT,
    retryDelay: 1,
    retryBackoff: true,
    deleteAfterSeconds: DEAD_LETTERS_KEPT_SECONDS,
  };
  const options = {
    ...shared,
    deadLetter: deadLetters,
    notify: true,
    retryLimit: retries,
    retryDelay: retryDelaySeconds,
    retryBackoff: true,
  };
  const stored = new Map((await boss.getQueues([deadLetters, consumer])).map((queue) => [queue.name, queue]));
  const wanted = [
    [deadLetters, deadLetterOptions],
    [consumer, options],
  ] as const;
  for (const [name, each] of wanted) {
    const queue = stored.get(name);
    if (queue === undefined) await boss.createQueue(name, each);
    const isCurrent = Object.entries(each).every(([option, value]) => queue?.[option as keyof typeof queue] === value);
    if (!isCurrent) await boss.updateQueue(name, each);
  }
}
