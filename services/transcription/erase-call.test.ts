import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { CallErased, type Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { expect, it } from '@jest/globals';
import { stored, type Stored, TranscriptionUnderTest } from './transcription-under-test.ts';

const program = fileURLToPath(new URL('./hearing/test/stand-in-ear.ts', import.meta.url));
// Hanging ears are given more time than the tests take: whatever ends one of them is not its own limit.
const service = new TranscriptionUnderTest({ program, stallMs: 600_000 }, 2);
const say = (what: string) => service.store(Buffer.from(what));

function erased({ subject, firmuuid }: Stored): Event {
  return { ...stored(), subject, firmuuid, type: CallErased.type, data: { erased_at: new Date().toISOString() } };
}

const toldOf = ({ subject }: Stored) =>
  [...service.ready, ...service.failed].filter((event) => event.subject === subject);

it('a call that is being heard when it is erased is stopped, whichever replica hears it, and told to nobody', async () => {
  const hanging = [await say('hang'), await say('hang')];
  await waitUntil(async () => (await service.recordingsAtWork()) === 2);
  await service.publish(...hanging.map(erased));
  await service.settled();
  expect(await service.recordingsAtWork()).toBe(0);
  expect(hanging.flatMap(toldOf)).toEqual([]);
  await service.transcriptOf(await say('hello'));
});

it('a call that is being heard is heard on when that of another firm is erased, by whatever uuid', async () => {
  const hanging = await say('hang');
  await waitUntil(async () => (await service.recordingsAtWork()) === 1);
  await service.publish({ ...erased(hanging), firmuuid: randomUUID() });
  // By then that has been heard of.
  await service.transcriptOf(await say('hello'));
  expect(await service.recordingsAtWork()).toBe(1);
  await service.publish(erased(hanging));
  await service.settled();
  expect(await service.recordingsAtWork()).toBe(0);
});

it('a call that was erased before is not heard, nor missed when its recording is gone', async () => {
  const [there, gone] = [stored(), stored()];
  await service.put(there.data.key, Buffer.from('hello'));
  await service.publish(erased(there), erased(gone));
  await service.settled();
  await service.publish(there, gone);
  await service.settled();
  expect([there, gone].flatMap(toldOf)).toEqual([]);
});

it('what was heard and stored apart goes with the call, and not with that of another firm', async () => {
  const event = await say('everything');
  await service.transcriptOf(event);
  const key = `transcripts/${event.firmuuid}/${event.subject}/1.json`;
  await service.publish({ ...erased(event), firmuuid: randomUUID() });
  await service.settled();
  expect(await service.get(key)).toContain('utterances');
  await service.publish(erased(event));
  await service.settled();
  await expect(service.get(key)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
