import { Fault } from '@call-analysis/fault';
import { z } from 'zod';
import { type FailureReason, Poison } from '../port.ts';

const LONGEST_MESSAGE = 2_000;

/** Why an attempt failed, in the form that is stored with the event. */
export function reasonOf(error: unknown, attempts: number): FailureReason {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Poison || error instanceof Fault ? error.code : 'INTERNAL';
  return { message: storable(message), code: storable(code), attempts };
}

const Stored = z.object({ message: z.string(), code: z.string(), attempts: z.int() });
/** The text that pg-boss stores when an attempt ends without a result. */
const StoredByQueue = z.object({ value: z.object({ message: z.string() }) });

/** Reads what `reasonOf` returned, or what pg-boss stored when the worker was lost. */
export function storedReason(output: unknown, retries: number | null): FailureReason {
  const stored = Stored.safeParse(output);
  if (stored.success) return stored.data;
  const byQueue = StoredByQueue.safeParse(output);
  const cause = byQueue.success ? ` (${byQueue.data.value.message})` : '';
  return {
    message: `The worker was lost before it finished the event${cause}.`,
    code: 'INTERNAL',
    attempts: (retries ?? 0) + 1,
  };
}

// PostgreSQL's jsonb takes neither NUL nor half a surrogate pair.
function storable(text: string): string {
  return text.slice(0, LONGEST_MESSAGE).replaceAll('\u0000', '').toWellFormed();
}
