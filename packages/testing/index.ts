// Helpers that are cheap to load. Those that load clients of PostgreSQL or of other servers have entry points of their own.
export { bareEnvironment } from './bare-environment.ts';
export { openCollector } from './collector.ts';
export type { CollectedSpan } from './collector.ts';
export { endEarly } from './end-early.ts';
export { tracesInFiles, tracesInTables } from './find-words.ts';
export { long, tries } from './long-run.ts';
export { openTcpProxy } from './network/tcp-proxy.ts';
export type { TcpProxy } from './network/tcp-proxy.ts';
export { randomOf } from './random.ts';
export type { Random } from './random.ts';
export { freePort } from './servers/ports.ts';
export { waitUntil } from './wait-until.ts';
export { startWatchdog } from './watchdog/start-watchdog.ts';
export { wavHeader } from './wav.ts';
export { endRecords, writeZip, zip64Field } from './zip.ts';
export type { Zip, ZipEnd, ZipEntry, ZipFields } from './zip.ts';
