import { notFound } from '@call-analysis/fault';
import { z } from 'zod';

const MAX_PAGE = 2 ** 31 - 1;

/** Text that every part behind the gateway can hold: no NUL, no half of a surrogate pair. */
export function text(maxLength: number) {
  return z
    .string()
    .min(1)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be well-formed text without NUL')
    .refine((value) => Array.from(value).length <= maxLength, `must have at most ${maxLength} characters`);
}

export function uuid() {
  return z.guid('must be a UUID').toLowerCase();
}

/** Paging of every list (api.md, section 2). */
export const page = wholeNumber(1, MAX_PAGE).default(1);
export const size = wholeNumber(1, 100).default(10);

/** A query parameter that may come several times: any of the values. */
export function anyOf<Value extends z.ZodType<string>>(value: Value) {
  return z.preprocess((given) => (typeof given === 'string' ? [given] : given), z.array(value)).default([]);
}

/** A uuid in a path; what is none names nothing. */
export function pathUuid(given: string | undefined, what: string): string {
  const parsed = uuid().safeParse(given);
  if (!parsed.success) throw notFound(what);
  return parsed.data;
}

function wholeNumber(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,10}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message);
}
