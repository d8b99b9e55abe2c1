import { fileURLToPath } from 'node:url';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Config } from '../config.ts';
import { answers, openSpeechServer, type SpeechServer } from '../test/speech-server.ts';
import { audioStored, type AudioStoredEvent, TranscriptionTestService } from '../test/transcription-service.ts';

const program = fileURLToPath(new URL('../test/scripted-worker.ts', import.meta.url));
const service = new TranscriptionTestService({ program, stallMs: 600_000 }, 0);
const CALLS = 4;
// A worker starts anew after each failure.
const hello = { text: 'Hello there.', language: 'en' };
let server: SpeechServer;
let engine: Config['engine'];

beforeAll(async () => {
  server = await openSpeechServer();
  const retry = { attempts: 2, backOffMs: 1, maxPauseMs: 5 };
  engine = { kind: 'server', provider: 'openai', url: `${server.url}/v1`, model: 'whisper', retry };
});
afterAll(() => server.close());

const notesOf = ({ subject }: AudioStoredEvent) => service.waiting.filter((each) => each.subject === subject);

it('calls wait for a speech server that is away, whatever their number of tries, and their histories say so once', async () => {
  server.script(answers('Down', { status: 503 }));
  await service.start({ engine }, {}, 20);
  const events = await Promise.all(Array.from({ length: CALLS }, () => service.store(Buffer.from('segment'))));
  // An event has two tries, each with two requests, before it is given up.
  await waitUntil(() => server.requests.length > 4 * 2 * 2 * CALLS);
  await waitUntil(() => events.every((event) => notesOf(event).length > 0));
  expect(service.failed).toEqual([]);
  server.script(answers(hello));
  await Promise.all(events.map((event) => service.transcriptOf(event)));
  expect(service.failed).toEqual([]);
  await service.settled();
  const reasons = new Set(service.waiting.map(({ data }) => data.reason));
  expect([...reasons]).toEqual([expect.stringMatching(/waits for the speech engine\..*503/)]);
  expect(new Set(service.waiting.map(({ id }) => id)).size).toBe(CALLS);
  await service.stop();
}, 300_000);

it('after the limit a call fails, and can be retried; the time counts from the last call that was transcribed', async () => {
  server.script(answers('Wrong key', { status: 401 }));
  await service.start({ engine: { ...engine, giveUpAfterMs: 3_600_000 } as Config['engine'] }, {}, 20);
  const old = await service.store(Buffer.from('segment'), {}, new Date(Date.now() - 7_200_000));
  await waitUntil(() => notesOf(old).length > 0);
  expect(service.failed).toEqual([]);
  const fresh = await service.store(Buffer.from('segment'));
  await waitUntil(() => notesOf(fresh).length > 0);
  await service.setOutageBack(7_200);
  const { data } = await service.failureOf(old);
  expect(data).toMatchObject({ stage: 'transcription', code: 'ENGINE_MISCONFIGURED', retryable: true, attempts: 1 });
  expect(data.message).toContain('did not answer for 1 h');
  server.script(answers(hello));
  await service.transcriptOf(fresh);
  await service.stop();
}, 300_000);

it('calls wait for an object store that is away, whatever their number of tries', async () => {
  server.script(answers(hello));
  await service.start({ engine });
  await service.setStoreAway(true);
  const event = audioStored();
  const postponed = () => service.lines.filter((line) => line.includes('"postponed"') && line.includes(event.subject));
  await service.publish(event);
  // An event has two tries before it is given up.
  await waitUntil(() => postponed().length >= 4);
  await service.setStoreAway(false);
  await service.put(event.data.key, Buffer.from('segment'));
  await service.transcriptOf(event);
  expect(service.failed.filter(({ subject }) => subject === event.subject)).toEqual([]);
  await service.stop();
}, 300_000);
