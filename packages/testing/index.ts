export { freshDatabase } from './database.ts';
export type { TestDatabase } from './database.ts';
export { openGate } from './tcp-gate.ts';
export type { TcpGate } from './tcp-gate.ts';
export { waitUntil } from './wait-until.ts';
export { endRecords, writeZip, zip64Field } from './zip.ts';
export type { Zip, ZipEnd, ZipEntry, ZipFields } from './zip.ts';
