import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import type { PutOfMegabytes } from './put-megabytes.ts';

const program = fileURLToPath(new URL('./put-megabytes.ts', import.meta.url));

interface StoreForTest extends Omit<PutOfMegabytes, 'megabytes'> {
  close(): Promise<void>;
}

/** What an adapter needs in memory for a put, in a process of its own. */
export function objectsMemory(name: string, make: () => Promise<StoreForTest>): void {
  describe(`objects: ${name}`, () => {
    it('needs no more memory for a larger object', async () => {
      const { close, ...store } = await make();
      // A smaller put warms the process up. After it, only memory that depends on the size can grow.
      const put: PutOfMegabytes = { ...store, megabytes: [40, 200] };
      try {
        const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program, JSON.stringify(put)]);
        const [small = 0, large = 0] = JSON.parse(stdout) as number[];
        expect((large - small) / 1_000_000).toBeLessThan(20);
      } finally {
        await close();
      }
    });
  });
}
