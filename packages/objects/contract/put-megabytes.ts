// A process that puts objects into a store and prints, for each, the most memory in bytes that was in use; run by memory.ts.
import { Readable } from 'node:stream';
import { encryptionKeysFrom } from '@call-analysis/encryption';
import { type ObjectsConfig, openObjects } from '../open.ts';
import type { S3Limits } from '../s3/config.ts';

export interface PutOfMegabytes {
  readonly config: ObjectsConfig;
  /** As in ENCRYPTION_KEY. */
  readonly encryptionKey?: string;
  /** Only with S3. */
  readonly limits?: Partial<S3Limits>;
  /** The sizes of the objects. */
  readonly megabytes: readonly number[];
}

const QUARTERS = 4;
/** How many pieces are sent between two measurements. */
const MEASURED_EVERY = 10;
/** The same bytes again and again, so that only the store's own memory can grow. */
const quarter = Buffer.alloc(1_000_000 / QUARTERS, 'megabyte');

const { config, encryptionKey, limits, megabytes } = JSON.parse(process.argv[2]!) as PutOfMegabytes;
const objects = await open();
const peaks: number[] = [];
for (const [index, size] of megabytes.entries()) {
  let peak = 0;
  const source = Readable.from(
    (function* () {
      for (let sent = 0; sent < size * QUARTERS; sent += 1) {
        if (sent % MEASURED_EVERY === 0) peak = Math.max(peak, usedBytes());
        yield quarter;
      }
    })(),
  );
  const { sizeBytes } = await objects.put(`memory/${index}`, source);
  if (sizeBytes !== size * 1_000_000) throw new Error(`${sizeBytes} bytes were stored, not ${size} MB.`);
  peaks.push(peak);
}
console.log(JSON.stringify(peaks));
// A client of S3 may keep its connections.
process.exit();

async function open() {
  if (config.store === 's3' && limits !== undefined) {
    const { openS3 } = await import('../s3/s3.ts');
    return openS3(config, { limits });
  }
  const encryption = encryptionKey === undefined ? undefined : encryptionKeysFrom({ ENCRYPTION_KEY: encryptionKey });
  return openObjects({ ...config, encryption });
}

function usedBytes(): number {
  globalThis.gc!();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
