import { byteSize } from '@call-analysis/runtime';
import { z } from 'zod';

const KIB = 1024;
const MIB = 1024 ** 2;
const TIB = 1024 ** 4;

export const LimitVariables = z.object({
  CSV_MAX_BYTES: size(KIB, 5 * TIB, '1KiB to 5TiB')
    .prefault('5GiB')
    .meta({ description: 'The largest accepted CSV, written like `500MB`, `512KiB` or `5GiB`.' }),
  CSV_MAX_ROWS: count(1_000_000_000)
    .prefault('10000000')
    .meta({ description: 'The most rows of a CSV, not counting the header.' }),
  ZIP_MAX_BYTES: size(KIB, 5 * TIB, '1KiB to 5TiB')
    .prefault('50GiB')
    .meta({ description: 'The largest accepted ZIP of recordings.' }),
  // What holds a whole transcript in memory, and in an event, counts on it.
  TRANSCRIPT_MAX_BYTES: size(KIB, 4 * MIB, '1KiB to 4MiB')
    .prefault('4MiB')
    .meta({ description: 'The longest `anonymized_text`, in bytes of UTF-8.' }),
  // The gateway accepts no longer values in the filters of a listing.
  VALUE_MAX_CHARS: count(255)
    .prefault('255')
    .meta({ description: 'The longest other value of a call, in characters.' }),
  STORAGE_QUOTA: byteSize().optional().meta({
    description:
      'The most space for the stored recordings and archives of one firm, such as `500GiB`. Default: no quota.',
  }),
});

/** The limits of an upload (docs/api.md, "Presigned uploads"). */
export type Limits = Readonly<ReturnType<typeof limitsFrom>>;

export function limitsFrom(variables: z.output<typeof LimitVariables>) {
  return {
    csvBytes: variables.CSV_MAX_BYTES,
    csvRows: variables.CSV_MAX_ROWS,
    zipBytes: variables.ZIP_MAX_BYTES,
    /** Of one `anonymized_text`, in bytes of UTF-8. */
    transcriptBytes: variables.TRANSCRIPT_MAX_BYTES,
    /** Of any other value, in code points. */
    valueChars: variables.VALUE_MAX_CHARS,
    /** Null: none. */
    storageQuotaBytes: variables.STORAGE_QUOTA ?? null,
  };
}

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
