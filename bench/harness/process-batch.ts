import { openAsBlob } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiClient, Batch } from '../../deploy/standalone/test/client/api-client.ts';

/**
 * Uploads a CSV and processes it. Returns the milliseconds from the acceptance of its calls until the last has ended. Polls
 * rarely, because counting a large batch costs time too. Throws when a call fails.
 */
export async function processBatch(firm: ApiClient, csv: string, everyMs = 250): Promise<number> {
  const key = await firm.upload(await openAsBlob(csv));
  const { data } = await firm.call<{ data: { batch_id: string } }>('POST', '/api/v1/calls/process-upload', {
    metadata_key: key,
  });
  const began = performance.now();
  for (;;) {
    const { finished_at, by_status } = await firm.call<Batch>('GET', `/api/v1/calls/batches/${data.batch_id}`);
    if (finished_at !== null) {
      const failed = by_status['failed'] ?? 0;
      if (failed > 0) throw new Error(`${failed} calls failed.`);
      return performance.now() - began;
    }
    await pause(everyMs);
  }
}
