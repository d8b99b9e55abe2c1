import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { CallsCanceled, type Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { expect, it } from '@jest/globals';
import { stored, type Stored, TranscriptionUnderTest } from './transcription-under-test.ts';

const program = fileURLToPath(new URL('./hearing/test/stand-in-ear.ts', import.meta.url));
// Hanging ears are given more time than the tests take: whatever ends one of them is not its own limit.
const service = new TranscriptionUnderTest({ program, stallMs: 600_000 }, 2);

function canceled(firmuuid: string, calls: readonly Stored[]): Event {
  const data = { calls: calls.map(({ subject }) => subject) };
  return { ...stored(), subject: randomUUID(), firmuuid, type: CallsCanceled.type, data };
}

it('calls that were canceled are not heard, those in hand are stopped, and others are heard in their stead', async () => {
  const hanging = await service.store(Buffer.from('hang'));
  await waitUntil(async () => (await service.recordingsAtWork()) === 1);
  const { firmuuid } = hanging;
  const waiting = { ...stored(), firmuuid };
  await service.put(waiting.data.key, Buffer.from('hello'));
  await service.publish(canceled(firmuuid, [hanging, waiting]));
  await service.settled();
  expect(await service.recordingsAtWork()).toBe(0);
  await service.publish(waiting);
  await service.settled();
  const told = [...service.ready, ...service.failed].filter(({ subject }) =>
    [hanging.subject, waiting.subject].includes(subject),
  );
  expect(told).toEqual([]);
  await service.transcriptOf(await service.store(Buffer.from('hello')));
});
