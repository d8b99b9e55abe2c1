import { isUtf8 } from 'node:buffer';
import type { Fault } from '@call-analysis/fault';
import { csvFault } from './scanner.ts';

/** The smallest piece that is decoded: a source of tiny chunks costs no more than one of large chunks. */
const PIECE_MIN_BYTES = 32 * 1024;
/** The largest piece that is decoded: a huge chunk does not block the event loop. */
const PIECE_MAX_BYTES = 64 * 1024;

/** Bytes, from the first one that is not UTF-8, that are searched for hints of the encoding. */
const GUESS_BYTES = 4096;

const HOW_TO_SAVE =
  'Save it as UTF-8: in Excel "Save As", type "CSV UTF-8 (comma delimited)"; ' +
  'in LibreOffice "Save As", "Edit filter settings", character set "Unicode (UTF-8)".';

/**
 * Decodes a CSV file in pieces. The byte order mark is part of the text.
 * Faults: INVALID_ENCODING, INVALID_CSV for a NUL, FILE_TOO_LARGE. The text before a fault is yielded first, so that
 * `currentRow`, called when the fault is created, returns its row.
 */
export async function* decodeText(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
  currentRow: () => number,
): AsyncGenerator<string, void> {
  let first = true;
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of piecesOf(bytes, maxBytes)) {
    const joined = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const complete = joined.subarray(0, completeLength(joined));
    rest = Buffer.from(joined.subarray(complete.length));
    if (first) {
      const other = looksLikeUtf16(joined) ?? looksLikeOtherFile(joined);
      if (other !== null) throw invalidEncoding(other, null);
    }
    const valid = isUtf8(complete) ? complete.length : validLength(complete);
    const nul = complete.indexOf(0);
    const good = nul >= 0 && nul < valid ? nul : valid;
    yield complete.toString('utf8', 0, good);
    first = false;
    if (good === complete.length) continue;
    const row = currentRow();
    if (good === nul) {
      const message = `Row ${row} contains a NUL character. Remove it, or export the file again: text files have none.`;
      throw csvFault('INVALID_CSV', message, { row });
    }
    throw invalidEncoding(looksLikeEightBit(complete.subarray(good, good + GUESS_BYTES)), row);
  }
  if (rest.length > 0) {
    const row = currentRow();
    throw csvFault(
      'INVALID_ENCODING',
      `The file ends in the middle of a character in row ${row}, or is not UTF-8. ` +
        `If it was cut off on the way, upload it again. Otherwise: ${HOW_TO_SAVE}`,
      { row },
    );
  }
}

/** Joins and cuts chunks to pieces of a workable size. Fault FILE_TOO_LARGE as soon as the limit is exceeded. */
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
      // Copied, because a source may reuse the memory of its chunk.
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

function invalidEncoding(looksLike: string | null, row: number | null): Fault {
  const where = row === null ? '' : ` (first in row ${row})`;
  const guess = looksLike === null ? 'its encoding could not be recognised' : `it looks like ${looksLike}`;
  return csvFault('INVALID_ENCODING', `The file is not UTF-8${where}: ${guess}. ${HOW_TO_SAVE}`, {
    looks_like: looksLike,
    row,
  });
}

/** The length up to the last complete code point: at most three bytes less than all. */
function completeLength(bytes: Uint8Array): number {
  const end = bytes.length;
  for (let back = 1; back <= 3 && back <= end; back++) {
    const byte = bytes[end - back] ?? 0;
    if (byte < 0x80) return end;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? end - back : end;
  }
  return end;
}

/** The length of the longest prefix that is valid UTF-8, found by bisection. */
function validLength(bytes: Uint8Array): number {
  let good = 0;
  let bad = bytes.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1;
    const prefix = bytes.subarray(0, middle);
    if (isUtf8(prefix.subarray(0, completeLength(prefix)))) good = middle;
    else bad = middle;
  }
  return completeLength(bytes.subarray(0, good));
}

type Utf16 = 'UTF-16 LE' | 'UTF-16 BE';

/**
 * Recognizes UTF-16 by its byte order mark, or by its NULs: column names are ASCII, so every second byte of a header in
 * UTF-16 is NUL.
 */
function looksLikeUtf16(start: Uint8Array): Utf16 | null {
  if (start[0] === 0xff && start[1] === 0xfe) return 'UTF-16 LE';
  if (start[0] === 0xfe && start[1] === 0xff) return 'UTF-16 BE';
  const sample = start.subarray(0, 512);
  let even = 0;
  let odd = 0;
  for (let index = 0; index < sample.length; index++) {
    if (sample[index] !== 0) continue;
    if (index % 2 === 0) even++;
    else odd++;
  }
  const enough = sample.length / 5;
  if (odd > enough && even === 0) return 'UTF-16 LE';
  if (even > enough && odd === 0) return 'UTF-16 BE';
  return null;
}

/** Files that are often uploaded instead of a CSV, by their first bytes. */
const OTHER_FILES: readonly (readonly [Buffer, string])[] = [
  [Buffer.from('PK\x03\x04'), 'an Excel workbook (.xlsx) or another ZIP'],
  [Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), 'an Excel workbook (.xls)'],
  [Buffer.from([0x1f, 0x8b]), 'a file compressed by gzip'],
];

function looksLikeOtherFile(start: Buffer): string | null {
  return OTHER_FILES.find(([bytes]) => start.subarray(0, bytes.length).equals(bytes))?.[1] ?? null;
}

type EightBit = 'Windows-1251' | 'Latin-1';

/**
 * Guesses the encoding of bytes that are not UTF-8. In Windows-1251, Russian words are runs of bytes from 0xC0 up. In
 * Latin-1, an accented letter is surrounded by ASCII. Null when neither pattern is found.
 */
function looksLikeEightBit(bytes: Uint8Array): EightBit | null {
  let high = 0;
  let letters = 0;
  let inRuns = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0;
    if (byte < 0x80) continue;
    high++;
    if (byte < 0xc0 && byte !== 0xa8 && byte !== 0xb8) continue;
    letters++;
    if ((bytes[index - 1] ?? 0) >= 0x80 || (bytes[index + 1] ?? 0) >= 0x80) inRuns++;
  }
  if (high === 0 || letters < high * 0.6) return null;
  if (inRuns > letters * 0.6) return 'Windows-1251';
  return inRuns < letters * 0.3 ? 'Latin-1' : null;
}
