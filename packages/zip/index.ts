export { type ArchiveEntry, type EntryRecord, EntryNames } from './entry-name.ts';
export { openEntry } from './open-entry.ts';
export { type Archive, readArchive } from './read-archive.ts';
export { storedArchive } from './source.ts';
