import { Fault } from '@call-analysis/fault';

/**
 * Codes of a CSV that is wrong as a file (api.md, section 5). They are all answers of 400, limits included,
 * hence the one kind.
 */
export type CsvFaultCode =
  | 'INVALID_ENCODING'
  | 'INVALID_CSV'
  | 'MISSING_COLUMN'
  | 'DUPLICATE_COLUMN'
  | 'EMPTY_FILE'
  | 'FILE_TOO_LARGE'
  | 'TOO_MANY_ROWS';

export function csvFault(code: CsvFaultCode, message: string, details: Record<string, unknown> | null = null): Fault {
  return new Fault('invalid', code, message, { details });
}
