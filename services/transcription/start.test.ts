import { fileURLToPath } from 'node:url';
import { TranscriptReady } from '@call-analysis/events';
import { ConfigFault } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { stored, TranscriptionUnderTest } from './transcription-under-test.ts';

const program = fileURLToPath(new URL('./hearing/test/stand-in-ear.ts', import.meta.url));
const service = new TranscriptionUnderTest({ program, stallMs: 1_000 }, 2);
// A long recording gives its ear a minute more before it is taken for lost: only those that hang shall be.
const LONG = 1200;
const say = (what: string) => service.store(Buffer.from(what), { duration: what === 'hang' ? 1 : LONG });

describe('a recording', () => {
  it('is heard, and what was said is told under the roles of the channels', async () => {
    const event = await service.store(Buffer.from('hello'), {
      attempt: 2,
      left: 'client',
      right: 'operator',
      duration: LONG,
    });
    const said = await service.transcriptOf(event);
    expect(said).toMatchObject({
      type: TranscriptReady.type,
      source: 'transcription',
      firmuuid: event.firmuuid,
      priority: 3,
    });
    expect(said.data).toEqual({
      attempt: 2,
      source: 'audio',
      duration: 10,
      language: 'en',
      tags: [],
      segment_type: 'support',
      engine: 'test',
      notes: ["Nothing is said on the operator's (right) channel."],
      transcript: { utterances: [{ role: 'client', text: 'hello', start: 1, end: 2 }] },
    });
    const progress = await service.progressOf(event);
    expect(progress.data).toEqual({ attempt: 2, heard: 0, duration: LONG });
  });

  it('that was heard is not heard again when its news comes once more, as after a reset of how far they were read', async () => {
    const event = await service.store(Buffer.from('hello'));
    await service.transcriptOf(event);
    await service.settled();
    await service.publish(event);
    await service.settled();
    expect(service.progressed.filter(({ subject }) => subject === event.subject)).toHaveLength(1);
  });

  it('that is told of several times, to several replicas, is told on once', async () => {
    const event = await say('slow');
    await service.publish(event, { ...event });
    await service.publish(event);
    await service.transcriptOf(event);
    await service.settled();
    expect(service.ready.filter(({ subject }) => subject === event.subject)).toHaveLength(1);
  });

  it('with nothing in it becomes a transcript without utterances, and nobody is named as its hearer', async () => {
    const { data } = await service.transcriptOf(await say('silence'));
    expect(data).toMatchObject({ language: null, transcript: { utterances: [] } });
    expect(data).not.toHaveProperty('engine');
    expect(data).not.toHaveProperty('notes');
  });

  it('with more to tell than an event carries is told by object key', async () => {
    const event = await say('everything');
    const { data } = await service.transcriptOf(event);
    const key = `transcripts/${event.firmuuid}/${event.subject}/1.json`;
    expect(data.transcript).toEqual({ key });
    const { utterances } = JSON.parse(await service.get(key)) as { utterances: unknown[] };
    expect(utterances).toHaveLength(6000);
  });

  it('that is broken fails its call at the first try, and is not to be retried', async () => {
    const event = await say('unreadable');
    expect((await service.failureOf(event)).data).toEqual({
      attempt: 1,
      stage: 'transcription',
      code: 'AUDIO_UNREADABLE',
      message: 'The recording is broken.',
      retryable: false,
      attempts: 1,
    });
  });

  it('that is not in the store fails its call', async () => {
    const event = stored();
    await service.publish(event);
    expect((await service.failureOf(event)).data).toMatchObject({
      code: 'RECORDING_MISSING',
      retryable: true,
      attempts: 1,
    });
  });

  it('on which ears crash, die, hang or err is tried again, then fails its call with a reason; others are heard meanwhile', async () => {
    const codes = { crash: 'ENGINE_CRASHED', die: 'ENGINE_CRASHED', hang: 'ENGINE_STALLED', bug: 'INTERNAL' };
    const events = await Promise.all(Object.keys(codes).map(say));
    const other = await say('hello');
    await service.transcriptOf(other);
    const failures = await Promise.all(events.map((event) => service.failureOf(event)));
    expect(failures.map(({ data }) => data.code)).toEqual(Object.values(codes));
    for (const { data } of failures) {
      expect(data).toMatchObject({ stage: 'transcription', retryable: true, attempts: 2 });
      expect(data.message).not.toContain('undefined');
    }
    expect(service.ready.filter(({ subject }) => events.some((event) => event.subject === subject))).toEqual([]);
  });

  it('whose news does not have its form fails its call at once', async () => {
    const event = stored();
    await service.publish({ ...event, data: { attempt: 4, key: 7 } });
    expect((await service.failureOf(event)).data).toMatchObject({ attempt: 4, code: 'BODY_MISFIT', attempts: 1 });
  });

  it('leaves nothing where it was heard', async () => {
    await service.settled();
    expect(await service.recordingsAtWork()).toBe(0);
  });
});

describe('stopping', () => {
  it('gives up what is being heard, untried, however long it would take, and the next start hears it', async () => {
    await service.stop();
    await service.start({}, { stallMs: 600_000 });
    const event = await say('endless');
    const hung = await say('hang');
    await waitUntil(async () => (await service.recordingsAtWork()) === 2);
    await service.stop();
    expect(
      [...service.failed, ...service.ready].filter(({ subject }) =>
        [event, hung].some((each) => each.subject === subject),
      ),
    ).toEqual([]);
    await service.put(event.data.key, Buffer.from('hello'));
    await service.start();
    await service.transcriptOf(event);
    // A hung ear uses up the one retry; the stop in between must not have used up the other.
    expect((await service.failureOf(hung)).data.attempts).toBe(2);
    await service.settled();
    expect(service.ready.filter(({ subject }) => subject === event.subject)).toHaveLength(1);
  });
});

describe('starting', () => {
  it('with a model directory that is not one fails with a sentence', async () => {
    const refused = service.start({ engine: { kind: 'local', modelDirectory: '/nowhere/at/all' } });
    await expect(refused).rejects.toThrow(ConfigFault);
    await expect(refused).rejects.toThrow('SPEECH_MODEL_DIR names /nowhere/at/all, which cannot be read (ENOENT).');
  });
});

describe('the log', () => {
  it('never says what was said', () => {
    expect(service.lines.length).toBeGreaterThan(0);
    for (const line of service.lines) expect(line).not.toMatch(/hello|xxxx/);
  });
});
