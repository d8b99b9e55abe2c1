import { createHash } from 'node:crypto';
import type { JobInsert } from 'pg-boss';
import { z } from 'zod';

/** What came as an event and is none. It becomes a dead letter, with what came, so that somebody may find out why. */
export interface Unreadable {
  readonly why: string;
  /** Where it was read; the same place is the same dead letter. */
  readonly place: string;
  readonly message: Readonly<Record<string, unknown>>;
}

const Stored = z.object({ unreadable: z.string() });

/** A job whose only try fails at once. */
export function unreadableJob(consumer: string, { why, place, message }: Unreadable): JobInsert {
  // As base64 the queue takes it, whatever it is.
  const raw = Buffer.from(JSON.stringify(message)).toString('base64');
  return {
    id: idOf(`${consumer} ${place}`),
    data: { unreadable: why.replaceAll('\u0000', '').toWellFormed(), place, raw },
    group: { id: 'unreadable' },
  };
}

/** Why a job of the queue is no event, when it was stored as none. */
export function whyUnreadable(stored: unknown): string | undefined {
  return Stored.safeParse(stored).data?.unreadable;
}

/** A uuid made of the text. */
function idOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
