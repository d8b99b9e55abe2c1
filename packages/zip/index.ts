export type { ArchiveSource } from './tail.ts';
export { defaultArchiveLimits, readArchive } from './read-directory.ts';
export type { Archive, ArchiveEntry, ArchiveLimits, EntryRecord } from './read-directory.ts';
export { EntryNames } from './entry-names.ts';
export type { Match } from './entry-names.ts';
export { openEntry } from './open-entry.ts';
