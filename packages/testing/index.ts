// What costs nothing to load. What loads PostgreSQL's client or clients of servers has entry points of its own, because Jest
// loads every module again for each test file.
export { bareEnvironment } from './bare-environment.ts';
export { openCollector } from './collector.ts';
export type { CollectedSpan } from './collector.ts';
export { tracesInFiles, tracesInTables } from './find-words.ts';
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
