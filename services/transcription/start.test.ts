import { fileURLToPath } from 'node:url';
import { TranscriptReady } from '@call-analysis/events';
import { ConfigFault } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { audioStored, TranscriptionTestService } from './test/transcription-service.ts';

const program = fileURLToPath(new URL('./test/scripted-worker.ts', import.meta.url));
const service = new TranscriptionTestService({ program, stallMs: 1_000 }, 2);
// A long recording extends the stall limit by a minute, so that only hanging workers reach it.
const LONG = 1200;
const store = (behaviour: string) =>
  service.store(Buffer.from(behaviour), { duration: behaviour === 'hang' ? 1 : LONG });

describe('a recording', () => {
  it("is transcribed and its utterances are published with the channels' roles", async () => {
    const event = await service.store(Buffer.from('hello'), {
      attempt: 2,
      left: 'client',
      right: 'operator',
      operator_name: 'Aziza',
      direction: 'outbound',
      start_time: '2026-01-02T03:04:05.000Z',
      duration: LONG,
    });
    const ready = await service.transcriptOf(event);
    expect(ready).toMatchObject({
      type: TranscriptReady.type,
      source: 'transcription',
      firmuuid: event.firmuuid,
      priority: 3,
    });
    expect(ready.data).toEqual({
      attempt: 2,
      source: 'audio',
      duration: 10,
      language: 'en',
      operator_name: 'Aziza',
      direction: 'outbound',
      start_time: '2026-01-02T03:04:05.000Z',
      tags: [],
      segment_type: 'support',
      engine: 'test',
      speech_seconds: 1.5,
      notes: ["Nothing is said on the operator's (right) channel."],
      transcript: { utterances: [{ role: 'client', text: 'hello', start: 1, end: 2 }] },
    });
    const progress = await service.progressOf(event);
    expect(progress.data).toEqual({ attempt: 2, heard: 0, duration: LONG });
  });

  it('that was transcribed is not transcribed again when its event is delivered again', async () => {
    const event = await store('hello');
    const progress = () => service.progressed.filter(({ subject }) => subject === event.subject).length;
    await service.transcriptOf(event);
    await service.settled();
    // One that takes seconds says several times how far it is.
    const once = progress();
    expect(once).toBeGreaterThan(0);
    await service.publish(event);
    await service.settled();
    expect(progress()).toBe(once);
  });

  it('whose event is delivered several times, to several replicas, is published once', async () => {
    const event = await store('slow');
    await service.publish(event, { ...event });
    await service.publish(event);
    await service.transcriptOf(event);
    await service.settled();
    expect(service.ready.filter(({ subject }) => subject === event.subject)).toHaveLength(1);
  });

  it.each([
    [{ redact: true }, 'call me on [PHONE] please'],
    [{}, 'call me on +998 90 123-45-67 please'],
  ])('of a firm that wants that (%j) is published without personal data: “%s”', async (setting, text) => {
    const event = await service.store(Buffer.from('phone'), { duration: LONG, ...setting });
    const { transcript } = (await service.transcriptOf(event)).data;
    expect(transcript).toMatchObject({ utterances: [{ text }] });
  });

  it('without speech becomes a transcript without utterances and without an engine', async () => {
    const { data } = await service.transcriptOf(await store('silence'));
    expect(data).toMatchObject({ language: null, transcript: { utterances: [] } });
    expect(data).not.toHaveProperty('engine');
    expect(data).not.toHaveProperty('notes');
  });

  it('with a transcript too large for an event is published by object key', async () => {
    const event = await store('long-text');
    const { data } = await service.transcriptOf(event);
    const key = `transcripts/${event.firmuuid}/${event.subject}/1.json`;
    expect(data.transcript).toEqual({ key });
    const { utterances } = JSON.parse(await service.get(key)) as { utterances: unknown[] };
    expect(utterances).toHaveLength(6000);
  });

  it('that is broken fails its call at the first attempt, without a retry', async () => {
    const event = await store('unreadable');
    expect((await service.failureOf(event)).data).toEqual({
      attempt: 1,
      stage: 'transcription',
      code: 'AUDIO_UNREADABLE',
      message: 'The recording is broken.',
      retryable: false,
      attempts: 1,
    });
    // Its data is at fault and not the system: one line at info, no dead letter.
    await service.settled();
    expect(await service.deadLetters()).toBe(0);
    const lines = service.lines
      .map((line) => JSON.parse(line) as { level: string; msg: string; call_uuid?: string; code?: string })
      .filter(({ call_uuid }) => call_uuid === event.subject);
    expect(new Set(lines.map(({ level }) => level))).toEqual(new Set(['info']));
    expect(lines.filter(({ msg }) => msg === 'a call failed').map(({ code }) => code)).toEqual(['AUDIO_UNREADABLE']);
  });

  it('that is not in the object store fails its call', async () => {
    const event = audioStored();
    await service.publish(event);
    expect((await service.failureOf(event)).data).toMatchObject({
      code: 'RECORDING_MISSING',
      retryable: true,
      attempts: 1,
    });
  });

  it('on which workers crash, are killed, hang or throw is retried, then fails its call with a reason; other calls go on', async () => {
    const codes = { crash: 'ENGINE_CRASHED', die: 'ENGINE_CRASHED', hang: 'ENGINE_STALLED', bug: 'INTERNAL' };
    const events = await Promise.all(Object.keys(codes).map(store));
    const other = await store('hello');
    await service.transcriptOf(other);
    const failures = await Promise.all(events.map((event) => service.failureOf(event)));
    expect(failures.map(({ data }) => data.code)).toEqual(Object.values(codes));
    for (const { data } of failures) {
      expect(data).toMatchObject({ stage: 'transcription', retryable: true, attempts: 2 });
      expect(data.message).not.toContain('undefined');
    }
    expect(service.ready.filter(({ subject }) => events.some((event) => event.subject === subject))).toEqual([]);
  });

  it('whose event has an invalid body fails its call at the first attempt', async () => {
    const event = audioStored();
    await service.publish({ ...event, data: { attempt: 4, key: 7 } });
    expect((await service.failureOf(event)).data).toMatchObject({ attempt: 4, code: 'BODY_MISFIT', attempts: 1 });
  });

  it('leaves no file in the work directory', async () => {
    await service.settled();
    expect(await service.recordingsInProgress()).toBe(0);
  });
});

describe('stopping', () => {
  it('returns running transcriptions to the queue without using up a retry, and the next start transcribes them', async () => {
    await service.stop();
    await service.start({}, { stallMs: 600_000 });
    const event = await store('endless');
    const hung = await store('hang');
    await waitUntil(async () => (await service.recordingsInProgress()) === 2);
    await service.stop();
    expect(
      [...service.failed, ...service.ready].filter(({ subject }) =>
        [event, hung].some((each) => each.subject === subject),
      ),
    ).toEqual([]);
    await service.put(event.data.key, Buffer.from('hello'));
    await service.start();
    await service.transcriptOf(event);
    // The hanging worker uses up the single retry; the stop must not have used up an attempt.
    expect((await service.failureOf(hung)).data.attempts).toBe(2);
    await service.settled();
    expect(service.ready.filter(({ subject }) => subject === event.subject)).toHaveLength(1);
  });
});

describe('starting', () => {
  it('with an unreadable model directory fails with one sentence', async () => {
    const refused = service.start({ engine: { kind: 'local', modelDirectory: '/nowhere/at/all' } });
    await expect(refused).rejects.toThrow(ConfigFault);
    await expect(refused).rejects.toThrow('SPEECH_MODEL_DIR names /nowhere/at/all, which cannot be read (ENOENT).');
  });
});

describe('the log', () => {
  it('never contains what was said', () => {
    expect(service.lines.length).toBeGreaterThan(0);
    for (const line of service.lines) expect(line).not.toMatch(/hello|xxxx/);
  });
});
