import { createHash } from 'node:crypto';
import type { JobInsert } from 'pg-boss';
import { z } from 'zod';

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
export function whyUnreadable(stored: unknown): string | undefined {
  return Stored.safeParse(stored).data?.unreadable;
}

/** A uuid derived from the text. */
function uuidFrom(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
