/** The kind of an entry according to its external attributes. */
type FileKind = 'file' | 'folder' | 'link' | 'other';

const UNIX_KIND = 0o170000;
const UNIX_FILE = 0o100000;
const UNIX_FOLDER = 0o040000;
const UNIX_LINK = 0o120000;

const DOS_VOLUME_LABEL = 0x08;
const DOS_FOLDER = 0x10;
const WINDOWS_REPARSE_POINT = 0x400;

/** A Unix mode in the upper half counts for entries of any system, because readers follow it too. */
export function fileKind(attributes: number): FileKind {
  const kind = (attributes >>> 16) & UNIX_KIND;
  if (kind === UNIX_FILE) return 'file';
  if (kind === UNIX_FOLDER) return 'folder';
  if (kind === UNIX_LINK) return 'link';
  if (kind !== 0) return 'other';
  if ((attributes & WINDOWS_REPARSE_POINT) !== 0) return 'link';
  if ((attributes & DOS_VOLUME_LABEL) !== 0) return 'other';
  return (attributes & DOS_FOLDER) !== 0 ? 'folder' : 'file';
}
