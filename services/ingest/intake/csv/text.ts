import { isUtf8 } from 'node:buffer';
import type { Fault } from '@call-analysis/fault';
import {
  decodeUtf8,
  looksLikeEightBit,
  looksLikeOtherFile,
  looksLikeUtf16,
  validLength,
  wholeLength,
} from './encoding.ts';
import { csvFault } from './fault.ts';

/** Pieces of at least this many bytes, so that a source of tiny chunks costs no more than one of large ones. */
const PIECE_MIN_BYTES = 32 * 1024;
/** Pieces of at most this many bytes, so that a source of huge chunks is not decoded in one go. */
const PIECE_MAX_BYTES = 64 * 1024;

/** How many bytes, from the first that are not UTF-8, the guess at their encoding looks at. */
const GUESS_BYTES = 4096;

const HOW_TO_SAVE =
  'Save it as UTF-8: in Excel "Save As", type "CSV UTF-8 (comma delimited)"; ' +
  'in LibreOffice "Save As", "Edit filter settings", character set "Unicode (UTF-8)".';

/**
 * The text of a CSV file in pieces, its byte order mark included.
 * Faults: INVALID_ENCODING, INVALID_CSV for a NUL, FILE_TOO_LARGE. The text before a fault is handed out first, so
 * that `rowNow`, asked when the fault is made, names the row.
 */
export async function* readText(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
  rowNow: () => number,
): AsyncGenerator<string, void> {
  let first = true;
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of piecesOf(bytes, maxBytes)) {
    const joined = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const whole = joined.subarray(0, wholeLength(joined));
    rest = Buffer.from(joined.subarray(whole.length));
    if (first) {
      const other = looksLikeUtf16(joined) ?? looksLikeOtherFile(joined);
      if (other !== null) throw invalidEncoding(other, null);
    }
    const valid = isUtf8(whole) ? whole.length : validLength(whole);
    const nul = whole.indexOf(0);
    const good = nul >= 0 && nul < valid ? nul : valid;
    yield decodeUtf8(whole.subarray(0, good));
    first = false;
    if (good === whole.length) continue;
    if (good === nul) throw nulFault(rowNow());
    throw invalidEncoding(looksLikeEightBit(whole.subarray(good, good + GUESS_BYTES)), rowNow());
  }
  if (rest.length > 0) {
    const row = rowNow();
    throw csvFault(
      'INVALID_ENCODING',
      `The file ends in the middle of a character in row ${row}, or is not UTF-8. ` +
        `If it was cut off on the way, upload it again. Otherwise: ${HOW_TO_SAVE}`,
      { row },
    );
  }
}

/** The same bytes in pieces of a workable size. FILE_TOO_LARGE as soon as the limit is passed. */
async function* piecesOf(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Buffer, void> {
  let total = 0;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  for await (const chunk of bytes) {
    total += chunk.length;
    if (total > maxBytes) {
      throw csvFault(
        'FILE_TOO_LARGE',
        `The CSV is larger than the ${maxBytes} bytes allowed. Split it into several files, each with the header row.`,
        { limit_bytes: maxBytes },
      );
    }
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (waitingBytes + buffer.length < PIECE_MIN_BYTES) {
      // Copied, because a source may use the memory of its chunk again.
      waiting.push(Buffer.from(buffer));
      waitingBytes += buffer.length;
      continue;
    }
    const joined = waitingBytes === 0 ? buffer : Buffer.concat([...waiting, buffer]);
    waiting = [];
    waitingBytes = 0;
    for (let from = 0; from < joined.length; from += PIECE_MAX_BYTES) {
      yield joined.subarray(from, from + PIECE_MAX_BYTES);
    }
  }
  if (waitingBytes > 0) yield Buffer.concat(waiting);
}

function nulFault(row: number): Fault {
  return csvFault(
    'INVALID_CSV',
    `Row ${row} holds a NUL character. Remove it, or export the file again: text files have none.`,
    { row },
  );
}

function invalidEncoding(looksLike: string | null, row: number | null): Fault {
  const where = row === null ? '' : ` (first in row ${row})`;
  const guess = looksLike === null ? 'its encoding could not be recognised' : `it looks like ${looksLike}`;
  return csvFault('INVALID_ENCODING', `The file is not UTF-8${where}: ${guess}. ${HOW_TO_SAVE}`, {
    looks_like: looksLike,
    row,
  });
}
