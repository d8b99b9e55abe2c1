export type { ArchiveEntry, EntryRecord } from './archive-entry.ts';
export { EntryNames } from './entry-names.ts';
export { openEntry } from './open-entry.ts';
export { type Archive, readArchive } from './read-archive.ts';
export { storedArchive } from './source.ts';
