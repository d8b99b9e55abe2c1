import { Fault } from '@call-analysis/fault';

/** Codes for an archive that is refused (docs/api.md, "Presigned uploads"), in the order in which they are checked. */
type ArchiveFaultCode = 'INVALID_ZIP' | 'UNSAFE_ARCHIVE' | 'NESTED_FOLDER';

export interface EntryFault {
  readonly name: string;
  readonly reason: string;
}

/** `details.entries` has the first 100 (docs/api.md, "Presigned uploads"). */
const LISTED = 100;
/** Code points of a name that are shown. A directory may contain names of 64 KiB. */
const SHOWN_NAME = 255;

const INTRODUCTIONS: Readonly<Record<ArchiveFaultCode, string>> = {
  INVALID_ZIP: 'The archive cannot be read',
  UNSAFE_ARCHIVE: 'The archive is not safe to open',
  NESTED_FOLDER: 'All recordings must be in the root of the archive, without folders',
};

const CREATE_AGAIN = 'Create the ZIP again from the recordings only, with an ordinary program.';
const ADVICE: Readonly<Record<ArchiveFaultCode, string>> = {
  INVALID_ZIP: CREATE_AGAIN,
  UNSAFE_ARCHIVE: CREATE_AGAIN,
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

/** An entry that is not what the directory says. */
export function corruptEntry(why: string, cause?: unknown): Fault {
  const message = `The recording cannot be extracted from the archive: ${why}. Create the archive again and resend the call.`;
  return new Fault('invalid', 'ENTRY_CORRUPT', message, { cause });
}

/** Collects the entries that have faults of one code: counts all and lists the first. */
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
    const characters = Array.from(name.slice(0, 2 * (SHOWN_NAME + 1)));
    const shown = characters.length > SHOWN_NAME ? `${characters.slice(0, SHOWN_NAME).join('')}…` : name;
    this.#listed.push({ name: shown, reason });
  }

  throwIfAny(): void {
    const [first] = this.#listed;
    if (first === undefined) return;
    const more = this.#count === 1 ? '' : ` (and ${this.#count - 1} more)`;
    const example = first.name === '' ? first.reason : `${JSON.stringify(first.name)} ${first.reason}`;
    throw archiveFault(
      this.#code,
      `${INTRODUCTIONS[this.#code]}: ${example}${more}. ${ADVICE[this.#code]}`,
      this.#listed,
    );
  }
}
