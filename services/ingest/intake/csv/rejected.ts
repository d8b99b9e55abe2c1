import type { RowFault } from '../rows/row-fault.ts';
import { REJECT_REASON, type Header } from './header.ts';
import type { RawRecord } from './scanner.ts';

/**
 * The CSV of refused rows: the columns as they came, `reject_reason` last, with the separator, the byte order mark and
 * the line `sep=` of the file, so that the program that wrote it opens this one too; lines end in CRLF. Corrected, it
 * can be sent back as it is, so a `reject_reason` that came with the file is left out and nothing is escaped against
 * formulas (phone numbers begin with `+`).
 */
type Columns = Form & Pick<Header, 'names' | 'rejectReasons'>;
type Form = Pick<Header, 'separator' | 'hasMark' | 'isDeclared'>;

const LINE_END = '\r\n';
/** Separators, quotes and line ends, and blanks at either end, which a reader may drop when they are not quoted. */
const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$/;

export function rejectedHeader(columns: Columns): string {
  return beginning(columns) + fieldsOf(columns, columns.names) + REJECT_REASON + LINE_END;
}

/**
 * A refused row with its reasons. Of a value that was too long to be kept the beginning is written, and the reason says
 * so. In a column that is read, that beginning is itself over the limit, so that it is not accepted by oversight.
 */
export function rejectedLine(
  columns: Columns,
  raw: Pick<RawRecord, 'fields' | 'cut'>,
  faults: readonly RowFault[],
): string {
  const reasons = faults.map((fault) => `${fault.code}: ${fault.message}`);
  for (const index of raw.cut ?? []) {
    const name = columns.names[index]?.trim() || `column ${index + 1}`;
    const kept = raw.fields[index]?.length ?? 0;
    reasons.push(`CUT: ${name} was too long to be kept; only its first ${kept} characters stand here`);
  }
  return fieldsOf(columns, raw.fields) + quoted(reasons.join('; ')) + LINE_END;
}

/** The header of such a file, as it stood there. */
export function copiedHeader(form: Form & Pick<Header, 'names'>): string {
  return beginning(form) + copiedLine(form, form.names);
}

/** A row of such a file, as it stood there. */
export function copiedLine({ separator }: Form, fields: readonly string[]): string {
  return fields.map(quoted).join(separator) + LINE_END;
}

function beginning({ separator, hasMark, isDeclared }: Form): string {
  return (hasMark ? '\ufeff' : '') + (isDeclared ? `sep=${separator}${LINE_END}` : '');
}

/** All columns but `reject_reason`, each with a separator behind it; those that a short record lacks are empty. */
function fieldsOf({ separator, names, rejectReasons }: Columns, fields: readonly string[]): string {
  let line = '';
  for (let index = 0; index < names.length; index++) {
    if (rejectReasons.length > 0 && rejectReasons.includes(index)) continue;
    line += quoted(fields[index] ?? '') + separator;
  }
  return line;
}

function quoted(value: string): string {
  return NEEDS_QUOTES.test(value) ? `"${value.split('"').join('""')}"` : value;
}
