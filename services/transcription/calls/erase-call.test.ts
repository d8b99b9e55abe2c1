import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { CallErased, type Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { expect, it } from '@jest/globals';
import { audioStored, type AudioStoredEvent, TranscriptionTestService } from '../test/transcription-service.ts';

const program = fileURLToPath(new URL('../test/scripted-worker.ts', import.meta.url));
// A stall limit longer than the test: only the erasure can end a hanging worker.
const service = new TranscriptionTestService({ program, stallMs: 600_000 }, 2);
const store = (behaviour: string) => service.store(Buffer.from(behaviour));

function erased({ subject, firmuuid }: AudioStoredEvent): Event {
  return { ...audioStored(), subject, firmuuid, type: CallErased.type, data: { erased_at: new Date().toISOString() } };
}

const publishedFor = ({ subject }: AudioStoredEvent) =>
  [...service.ready, ...service.failed].filter((event) => event.subject === subject);

it('erasing a call stops its transcription in any replica, and nothing is published for it', async () => {
  const hanging = [await store('hang'), await store('hang')];
  await waitUntil(async () => (await service.recordingsInProgress()) === 2);
  await service.publish(...hanging.map(erased));
  await service.settled();
  expect(await service.recordingsInProgress()).toBe(0);
  expect(hanging.flatMap(publishedFor)).toEqual([]);
  await service.transcriptOf(await store('hello'));
});

it("a transcription continues when another firm's call with the same uuid is erased", async () => {
  const hanging = await store('hang');
  await waitUntil(async () => (await service.recordingsInProgress()) === 1);
  await service.publish({ ...erased(hanging), firmuuid: randomUUID() });
  // By then the erasure has been consumed.
  await service.transcriptOf(await store('hello'));
  expect(await service.recordingsInProgress()).toBe(1);
  await service.publish(erased(hanging));
  await service.settled();
  expect(await service.recordingsInProgress()).toBe(0);
});

it('a call that was erased before is not transcribed and does not fail when its recording is missing', async () => {
  const [there, gone] = [audioStored(), audioStored()];
  await service.put(there.data.key, Buffer.from('hello'));
  await service.publish(erased(there), erased(gone));
  await service.settled();
  await service.publish(there, gone);
  await service.settled();
  expect([there, gone].flatMap(publishedFor)).toEqual([]);
});

it("a transcript in the object store is removed with its call, not with another firm's call", async () => {
  const event = await store('long-text');
  await service.transcriptOf(event);
  const key = `transcripts/${event.firmuuid}/${event.subject}/1.json`;
  await service.publish({ ...erased(event), firmuuid: randomUUID() });
  await service.settled();
  expect(await service.get(key)).toContain('utterances');
  await service.publish(erased(event));
  await service.settled();
  await expect(service.get(key)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
