import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { CallsCanceled, type Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { expect, it } from '@jest/globals';
import { audioStored, type AudioStoredEvent, TranscriptionTestService } from '../test/transcription-service.ts';

const program = fileURLToPath(new URL('../test/scripted-worker.ts', import.meta.url));
// A stall limit longer than the test: only the cancellation can end a hanging worker.
const service = new TranscriptionTestService({ program, stallMs: 600_000 }, 2);

function canceled(firmuuid: string, calls: readonly AudioStoredEvent[]): Event {
  const data = { calls: calls.map(({ subject }) => subject) };
  return { ...audioStored(), subject: randomUUID(), firmuuid, type: CallsCanceled.type, data };
}

it('canceled calls are not transcribed, running transcriptions of them stop, and other calls follow', async () => {
  const hanging = await service.store(Buffer.from('hang'));
  await waitUntil(async () => (await service.recordingsInProgress()) === 1);
  const { firmuuid } = hanging;
  const waiting = { ...audioStored(), firmuuid };
  await service.put(waiting.data.key, Buffer.from('hello'));
  await service.publish(canceled(firmuuid, [hanging, waiting]));
  await service.settled();
  expect(await service.recordingsInProgress()).toBe(0);
  await service.publish(waiting);
  await service.settled();
  const published = [...service.ready, ...service.failed].filter(({ subject }) =>
    [hanging.subject, waiting.subject].includes(subject),
  );
  expect(published).toEqual([]);
  await service.transcriptOf(await service.store(Buffer.from('hello')));
});
