import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { audioStored, TranscriptionTestService } from './test/transcription-service.ts';

const program = fileURLToPath(new URL('./test/scripted-worker.ts', import.meta.url));
const service = new TranscriptionTestService({ program, stallMs: 600_000 });
const WAITING = 100_000;
const BATCH = 2_000;
const MEGABYTE = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('a queue of 100,000 recordings', () => {
  it('takes no memory of the service, which holds as many recordings as it has workers', async () => {
    for (let worker = 0; worker < 2; worker++) await service.store(Buffer.from('endless'), { duration: 1200 });
    await waitUntil(async () => (await service.recordingsInProgress()) === 2);
    const before = heldBytes();
    for (let published = 0; published < WAITING; published += BATCH)
      await service.publish(...Array.from({ length: BATCH }, () => audioStored()));
    // The service looks for recordings meanwhile.
    await delay(2_000);
    // An event has half a kilobyte, so all of them would take 50 MB.
    expect(heldBytes() - before).toBeLessThan(10 * MEGABYTE);
    expect(await service.recordingsInProgress()).toBe(2);
    expect([...service.failed, ...service.ready]).toEqual([]);
  }, 300_000);
});
