export type { ArchiveSource } from './tail.ts';
export { defaultArchiveLimits, readArchive } from './read-archive.ts';
export type { Archive, ArchiveEntry, ArchiveLimits, EntryRecord } from './read-archive.ts';
export { EntryNames } from './entry-names.ts';
export type { Match } from './entry-names.ts';
export { openEntry } from './extract-entry.ts';
