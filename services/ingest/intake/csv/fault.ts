import { Fault } from '@call-analysis/fault';

/**
 * Codes for a CSV that is refused as a file (docs/api.md, "Presigned uploads"). All are answered with status 400,
 * limits included, so all have one kind.
 */
type CsvFaultCode =
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
