import { Fault } from '@call-analysis/fault';

/** Codes of an archive that is wrong as a file (api.md, section 5), in the order in which they are looked for. */
export type ArchiveFaultCode = 'INVALID_ZIP' | 'UNSAFE_ARCHIVE' | 'NESTED_FOLDER';

export interface EntryFault {
  readonly name: string;
  readonly reason: string;
}

/** api.md, section 5: `details.entries` holds the first 100. */
const LISTED = 100;
/** Code points of a name that are shown; the directory may hold names of 64 KiB. */
const SHOWN_NAME = 255;

const MAKE_ANEW = 'Make the ZIP anew from the recordings alone, with an ordinary program.';
/** What to do next. */
const ADVICE: Readonly<Record<ArchiveFaultCode, string>> = {
  INVALID_ZIP: MAKE_ANEW,
  UNSAFE_ARCHIVE: MAKE_ANEW,
  NESTED_FOLDER: 'Zip the files, not their folder.',
};

function archiveFault(code: ArchiveFaultCode, message: string, entries: readonly EntryFault[] = []): Fault {
  return new Fault('invalid', code, message, { details: { entries } });
}

export function invalidZip(why: string): Fault {
  return archiveFault('INVALID_ZIP', `The archive cannot be read as a ZIP: ${why}. ${ADVICE.INVALID_ZIP}`);
}

export function contradiction(why: string): Fault {
  return invalidZip(`its directory contradicts itself (${why})`);
}

export function unsafeArchive(why: string, advice: string = ADVICE.UNSAFE_ARCHIVE): Fault {
  return archiveFault('UNSAFE_ARCHIVE', `${INTRODUCTIONS.UNSAFE_ARCHIVE}: ${why}. ${advice}`);
}

const INTRODUCTIONS: Readonly<Record<ArchiveFaultCode, string>> = {
  INVALID_ZIP: 'The archive cannot be read',
  UNSAFE_ARCHIVE: 'The archive is not safe to open',
  NESTED_FOLDER: 'All recordings must be in the root of the archive, without folders',
};

/** What is wrong with entries under one code: all are counted, the first are listed. */
export class EntryFaults {
  readonly #code: ArchiveFaultCode;
  readonly #listed: EntryFault[] = [];
  #count = 0;

  constructor(code: ArchiveFaultCode) {
    this.#code = code;
  }

  add(name: string, reason: string): void {
    this.#count++;
    if (this.#listed.length >= LISTED) return;
    const characters = Array.from(name);
    const shown = characters.length > SHOWN_NAME ? `${characters.slice(0, SHOWN_NAME).join('')}…` : name;
    this.#listed.push({ name: shown, reason });
  }

  throwIfAny(): void {
    const [first] = this.#listed;
    if (first === undefined) return;
    const more = this.#count === 1 ? '' : ` (and ${this.#count - 1} more)`;
    const about = first.name === '' ? first.reason : `${JSON.stringify(first.name)} ${first.reason}`;
    throw archiveFault(
      this.#code,
      `${INTRODUCTIONS[this.#code]}: ${about}${more}. ${ADVICE[this.#code]}`,
      this.#listed,
    );
  }
}
