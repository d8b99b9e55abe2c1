import type { IncomingMessage } from 'node:http';
import { Fault, invalidFields } from '@call-analysis/fault';
import { z } from 'zod';

/** The header of a conditional write, for the documentation. */
export const IfMatch = z
  .string()
  .regex(/^"\d{1,9}"$/)
  .meta({ examples: ['"1"'] });

const NEEDED = 'the revision that you changed, in double quotes, as returned in ETag; for example "1"';

/**
 * The revision in `If-Match`, to which a change was made; null without the header. Faults: IF_MATCH_REQUIRED where it must be named,
 * VALIDATION_ERROR.
 */
export function revisionInIfMatch({ headers }: IncomingMessage, schema: z.ZodType): number | null {
  const given = headers['if-match'];
  if (given === undefined) {
    if (schema.safeParse(undefined).success) return null;
    const message = `This would replace what another person may have written. Send in If-Match ${NEEDED}.`;
    throw new Fault('unseen', 'IF_MATCH_REQUIRED', message);
  }
  const [, revision] = /^"(\d{1,9})"$/.exec(given.trim()) ?? [];
  if (revision === undefined)
    throw invalidFields([{ field: 'If-Match', code: 'INVALID', message: `must be ${NEEDED}` }]);
  return Number(revision);
}

/** The value of ETag for a revision. */
export function etagOf(revision: number): string {
  return `"${revision}"`;
}
