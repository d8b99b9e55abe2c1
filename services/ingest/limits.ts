import { byteSize } from '@call-analysis/runtime';
import { z } from 'zod';

/** What is taken at most (api.md, section 5, "Limits"). */
export interface Limits {
  readonly csvBytes: number;
  readonly csvRows: number;
  readonly zipBytes: number;
  /** Of one `anonymized_text`, in UTF-8. */
  readonly transcriptBytes: number;
  /** Of any other value, in code points. */
  readonly valueChars: number;
}

const KIB = 1024;
const MIB = 1024 ** 2;
const TIB = 1024 ** 4;

export const LimitVariables = z.object({
  CSV_MAX_BYTES: size(KIB, 5 * TIB, '1KiB to 5TiB')
    .prefault('5GiB')
    .meta({ description: 'The largest CSV that is taken, written like `500MB`, `512KiB` or `5GiB`.' }),
  CSV_MAX_ROWS: count(1_000_000_000)
    .prefault('10000000')
    .meta({ description: 'How many rows it may have, the header not counted.' }),
  ZIP_MAX_BYTES: size(KIB, 5 * TIB, '1KiB to 5TiB')
    .prefault('50GiB')
    .meta({ description: 'The largest ZIP of recordings that is taken.' }),
  // A longer transcript, taken apart, would not fit into one message between two services.
  TRANSCRIPT_MAX_BYTES: size(KIB, 4 * MIB, '1KiB to 4MiB')
    .prefault('4MiB')
    .meta({ description: 'The longest `anonymized_text`, in UTF-8.' }),
  // The edge takes no longer ones in questions for calls.
  VALUE_MAX_CHARS: count(255)
    .prefault('255')
    .meta({ description: 'The longest of all other values of a call, in characters.' }),
});

export function limitsFrom(variables: z.output<typeof LimitVariables>): Limits {
  return {
    csvBytes: variables.CSV_MAX_BYTES,
    csvRows: variables.CSV_MAX_ROWS,
    zipBytes: variables.ZIP_MAX_BYTES,
    transcriptBytes: variables.TRANSCRIPT_MAX_BYTES,
    valueChars: variables.VALUE_MAX_CHARS,
  };
}

export const defaultLimits: Limits = limitsFrom(LimitVariables.parse({}));

function size(least: number, most: number, range: string) {
  return byteSize().refine((bytes) => bytes >= least && bytes <= most, `must be ${range}`);
}

function count(most: number) {
  return z
    .string()
    .refine(
      (text) => /^\d{1,10}$/.test(text) && Number(text) >= 1 && Number(text) <= most,
      `must be a whole number from 1 to ${most}`,
    )
    .transform(Number);
}
