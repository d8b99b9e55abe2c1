import { REJECT_REASON, type Header } from '../csv/header.ts';
import type { RawRecord } from '../csv/scanner.ts';
import type { RowFault } from '../rows/row-fault.ts';

/**
 * The CSV of rejected rows has the columns as they came and `reject_reason` last. It has the separator, the byte order
 * mark and the `sep=` line of the uploaded file, so that the program that wrote that file can open this one. Lines end
 * in CRLF. A corrected file can be uploaded again, so a `reject_reason` that was uploaded is left out, and values are
 * not escaped against formulas: phone numbers begin with `+`.
 *
 * @fast-csv/format would write other bytes. It does not quote white space at the ends of a value, nor separators other
 * than the file's own, and other programs misread both. It also drops NULs and has no `sep=` line.
 */
type Form = Pick<Header, 'separator' | 'hasMark' | 'isDeclared'>;
type Columns = Form & Pick<Header, 'names' | 'rejectReasons'>;

const LINE_END = '\r\n';
/** Any separator, quotes, line ends, and white space at either end, which a reader may drop unless it is quoted. */
const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$/;

export function rejectedHeader(columns: Columns): string {
  return beginning(columns) + fieldsOf(columns, columns.names) + REJECT_REASON + LINE_END;
}

/**
 * A rejected row with its reasons. Of a value that was too long to be kept, the beginning is written, and a reason says
 * so. In a column that the service reads, that beginning is itself over the limit, so it is not accepted by accident.
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
    reasons.push(`CUT: ${name} was too long to be kept; these are its first ${kept} characters`);
  }
  return fieldsOf(columns, raw.fields) + quoted(reasons.join('; ')) + LINE_END;
}

/** Copies the header of a CSV of rejected rows unchanged. */
export function copiedHeader(form: Form & Pick<Header, 'names'>): string {
  return beginning(form) + copiedLine(form, form.names);
}

/** Copies a row of a CSV of rejected rows unchanged. */
export function copiedLine({ separator }: Form, fields: readonly string[]): string {
  return fields.map(quoted).join(separator) + LINE_END;
}

function beginning({ separator, hasMark, isDeclared }: Form): string {
  return (hasMark ? '\ufeff' : '') + (isDeclared ? `sep=${separator}${LINE_END}` : '');
}

/** All columns but `reject_reason`, each followed by a separator. Columns that a short record lacks are empty. */
function fieldsOf({ separator, names, rejectReasons }: Columns, fields: readonly string[]): string {
  let line = '';
  for (let index = 0; index < names.length; index++) {
    if (rejectReasons.length > 0 && rejectReasons.includes(index)) continue;
    line += quoted(fields[index] ?? '') + separator;
  }
  return line;
}

/** As it is, or in quotes where a reader would need them. */
export function quoted(value: string): string {
  return NEEDS_QUOTES.test(value) ? `"${value.split('"').join('""')}"` : value;
}
