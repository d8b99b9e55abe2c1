import { Fault } from '@call-analysis/fault';
import { z } from 'zod';
import { type FailureReason, Poison } from '../port.ts';

const longestMessage = 2_000;

/** Why a try failed, as it is stored with the event. */
export function reasonOf(error: unknown, attempts: number): FailureReason {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Poison || error instanceof Fault ? error.code : 'INTERNAL';
  return { message: storable(message), code: storable(code), attempts };
}

const Stored = z.object({ message: z.string(), code: z.string(), attempts: z.int() });
const Told = z.object({ value: z.object({ message: z.string() }) });

/** Reads back what `reasonOf` wrote, or what the queues note themselves when a worker is lost. */
export function storedReason(output: unknown, retries: number | null): FailureReason {
  const stored = Stored.safeParse(output);
  if (stored.success) return stored.data;
  const told = Told.safeParse(output);
  const cause = told.success ? ` (${told.data.value.message})` : '';
  return {
    message: `Whoever handled the event was lost before it was done${cause}.`,
    code: 'INTERNAL',
    attempts: (retries ?? 0) + 1,
  };
}

// PostgreSQL's jsonb takes neither NUL nor half a surrogate pair.
function storable(text: string): string {
  return text.slice(0, longestMessage).replaceAll('\u0000', '').toWellFormed();
}
