// Helpers that are cheap to load. Those that load clients of PostgreSQL or of other servers have entry points of their own.
export { bareEnvironment } from './bare-environment.ts';
export { openCollector, type CollectedSpan } from './collector.ts';
export { endEarly } from './end-early.ts';
export { tracesInFiles, tracesInTables } from './find-words.ts';
export { long, tries } from './long-run.ts';
export { openTcpProxy, type TcpProxy } from './network/tcp-proxy.ts';
export { randomOf, type Random } from './random.ts';
export { freePort } from './servers/ports.ts';
export { waitUntil } from './wait-until.ts';
export { startWatchdog } from './watchdog/start-watchdog.ts';
export { wavHeader } from './wav.ts';
export { endRecords, writeZip, zip64Field, type Zip, type ZipEnd, type ZipEntry, type ZipFields } from './zip.ts';
