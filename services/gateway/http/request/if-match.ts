import type { IncomingMessage } from 'node:http';
import { invalidFields } from '@call-analysis/fault';
import { z } from 'zod';

/** The header of a conditional write, for the documentation. */
export const IfMatch = z
  .string()
  .regex(/^"\d{1,9}"$/)
  .meta({ examples: ['"1"'] });

/** The revision in `If-Match`, to which a change was made; null without the header. Fault VALIDATION_ERROR. */
export function revisionInIfMatch({ headers }: IncomingMessage, schema: z.ZodType): number | null {
  const given = headers['if-match'];
  if (given === undefined) {
    if (schema.safeParse(undefined).success) return null;
    throw ifMatchFault('REQUIRED');
  }
  const [, revision] = /^"(\d{1,9})"$/.exec(given.trim()) ?? [];
  if (revision === undefined) throw ifMatchFault('INVALID');
  return Number(revision);
}

function ifMatchFault(code: 'REQUIRED' | 'INVALID') {
  const message = 'must be the revision that you changed, in double quotes, as returned in ETag; for example "1"';
  return invalidFields([{ field: 'If-Match', code, message }]);
}

/** The value of ETag for a revision. */
export function etagOf(revision: number): string {
  return `"${revision}"`;
}
