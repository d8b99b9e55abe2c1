export type { ArchiveEntry, EntryRecord } from './archive-entry.ts';
export { EntryNames, type Match } from './entry-names.ts';
export { openEntry } from './open-entry.ts';
export { type Archive, type ArchiveLimits, defaultArchiveLimits, readArchive } from './read-archive.ts';
export { type ArchiveSource, storedArchive } from './source.ts';
