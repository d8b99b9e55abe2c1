import { randomBytes, randomUUID } from 'node:crypto';
import { json } from 'node:stream/consumers';
import {
  AudioExtractionRequested,
  AudioStored,
  type BodyOf,
  type CallFailed,
  type Event,
  type EventType,
  INLINE_BYTES,
  TranscriptionProgressed,
  TranscriptReady,
} from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { audioCsvOf, goodAudio } from '../test/csv.ts';
import { type Call, callAnalyzed, callFailed, eventOf, noSpeech, transcriptReady } from '../test/events.ts';
import { callerOf, faultOf, fileNames, zipOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';

const service = new IngestUnderTest({ serving: true });

let requested: Event<BodyOf<typeof AudioExtractionRequested>>[];
let stored: Event<BodyOf<typeof AudioStored>>[];
let ready: Event<BodyOf<typeof TranscriptReady>>[];

beforeAll(async () => {
  requested = await service.collect(AudioExtractionRequested);
  stored = await service.collect(AudioStored);
  ready = await service.collect(TranscriptReady);
});

const read = ({ owner, uuid }: Call) => service.client.getCall({ ...callerOf(owner), call_uuid: uuid });
const retry = ({ owner, uuid }: Call) => service.client.retryCall({ ...callerOf(owner), call_uuid: uuid });

function reaches(call: Call, status: string): Promise<boolean> {
  return waitUntil(async () => (await read(call)).call?.status === status);
}

/** Nothing that this service hears waits or is in hand. */
function settled(): Promise<boolean> {
  return waitUntil(async () => {
    const depths = await service.parts.bus.depths();
    return depths.every(({ consumer, waiting, active }) => !consumer.startsWith('ingest.') || waiting + active === 0);
  });
}

function told<Body>(heard: readonly Event<Body>[], { uuid }: Call, attempt = 1): Promise<Event<Body>> {
  const isIt = ({ subject, data }: Event<Body>) =>
    subject === uuid && (data as { readonly attempt: number }).attempt === attempt;
  return waitUntil(() => heard.find(isIt));
}

const recording = {
  object_key: 'recordings/a.wav',
  format: 'wav',
  codec: 'pcm_s16le',
  channels: 2,
  sample_rate: 8000,
  duration: 2520,
  size_bytes: 1_960_044,
  sha256: randomBytes(32),
};

/** A call whose recording came by itself. */
async function uploaded(owner = service.newOwner()): Promise<Call> {
  const { call_uuid } = await service.client.registerCall({
    ...callerOf(owner),
    call_uuid: uuidv7(),
    file_name: 'call.wav',
    metadata: JSON.stringify(goodAudio),
    recording,
  });
  return { owner, uuid: call_uuid };
}

/** Calls of a batch, whose recordings are still in its archive. */
async function archived(owner = service.newOwner(), count = 1): Promise<Call[]> {
  const names = fileNames(count);
  await service.uploadBatch(owner, audioCsvOf(names.map((audio_file_name) => ({ audio_file_name }))), zipOf(names));
  return (await service.callsOf(owner)).map(({ uuid }) => ({ owner, uuid }));
}

function record({ owner, uuid }: Call, change: object = {}) {
  return service.client.recordAudio({ firm_uuid: owner.firmUuid, call_uuid: uuid, attempt: 1, recording, ...change });
}

const utterances = [
  { role: 'operator' as const, text: 'Hello', start: 0.5, end: 1.25 },
  { role: 'client' as const, text: 'Hi', start: 1.5, end: 2 },
];

function heard(call: Call, change: Partial<BodyOf<typeof TranscriptReady>> = {}) {
  return transcriptReady(call, { duration: 2520, engine: 'moonshine-tiny', transcript: { utterances }, ...change });
}

function progressed(call: Call, minutes: number, change: object = {}) {
  return eventOf(TranscriptionProgressed, call, { attempt: 1, heard: minutes * 60, duration: 2520, ...change });
}

function failed(call: Call, change: Partial<BodyOf<typeof CallFailed>> = {}) {
  const body = {
    stage: 'transcription' as const,
    code: 'ENGINE_CRASHED',
    message: 'It crashed.',
    retryable: true,
    attempts: 3,
  };
  return callFailed(call, { ...body, ...change });
}

async function fails(call: Call, change: Partial<BodyOf<typeof CallFailed>> = {}): Promise<void> {
  await service.publish(failed(call, change));
  await reaches(call, 'failed');
}

async function historyOf(call: Call): Promise<[string, string | undefined][]> {
  return (await read(call)).history!.map(({ status, detail }) => [status, detail]);
}

const transcriptOf = async (call: Call) => JSON.parse((await read(call)).transcript_json ?? 'null') as unknown;

describe('a recording that has come out of its archive', () => {
  it('is told to be stored, with the turn of its place in the batch, and the call shows it', async () => {
    const calls = await archived(service.newOwner(), 12);
    for (const call of [calls[0]!, calls[11]!]) {
      expect((await read(call)).audio).toBeNull();
      const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
      await record(call, { traceparent });
      expect(await told(stored, call)).toMatchObject({
        priority: call === calls[0] ? 1 : 2,
        // A span of its own in the same trace.
        traceparent: expect.stringContaining(traceparent.slice(0, 36)),
        data: {
          attempt: 1,
          key: 'recordings/a.wav',
          duration: 2520,
          left: 'operator',
          right: 'client',
          segment_type: 'support',
        },
      });
      const detail = await read(call);
      expect(detail.call).toMatchObject({ status: 'queued', duration: 2520 });
      expect(detail.audio).toMatchObject({ format: 'wav', size: 1_960_044 });
    }
    expect(await historyOf(calls[0]!)).toEqual([
      ['queued', undefined],
      ['queued', 'recording taken out of its archive'],
    ]);
  });

  it('counts once, however often and at whatever instant it is said', async () => {
    const [call] = await archived();
    await Promise.all([record(call!), record(call!), record(call!)]);
    await record(call!, { recording: { ...recording, object_key: 'recordings/other.wav' } });
    await told(stored, call!);
    const marker = await uploaded(call!.owner);
    await told(stored, marker);
    expect(stored.filter(({ subject }) => subject === call!.uuid)).toHaveLength(1);
    expect(await historyOf(call!)).toHaveLength(2);
    expect((await read(call!)).audio?.url).toContain('a.wav');
  });

  it('changes nothing when the call has ended, in another attempt, or in another firm', async () => {
    const [ended, early, foreign] = await archived(service.newOwner(), 3);
    await fails(ended!, { stage: 'extraction', code: 'ENTRY_CORRUPT', retryable: false });
    await record(ended!);
    await record(early!, { attempt: 2 });
    const stranger = service.newOwner();
    expect(await faultOf(record({ ...foreign!, owner: stranger }))).toMatchObject({ code: 'NOT_FOUND' });
    for (const call of [ended!, early!, foreign!]) expect((await read(call)).audio).toBeNull();
    expect(stored.some(({ firmuuid }) => firmuuid === ended!.owner.firmUuid)).toBe(false);
  });

  it('is refused when it does not have its form', async () => {
    const [call] = await archived();
    for (const change of [{ format: 'opus' }, { sha256: Buffer.alloc(5) }, { channels: 0 }, { object_key: '' }]) {
      await expect(record(call!, { recording: { ...recording, ...change } })).rejects.toMatchObject({
        kind: 'internal',
      });
    }
    await expect(record(call!, { recording: null })).rejects.toMatchObject({ kind: 'internal' });
  });
});

describe('the progress of hearing', () => {
  it('shows in the history, forward alone, one entry for each tenth', async () => {
    const call = await uploaded();
    const minutes = [0, 0, 5, 4, 2, 21, 8, 21.5, 42];
    for (const each of minutes) {
      await service.publish(progressed(call, each));
      await settled();
    }
    expect(await historyOf(call)).toEqual([
      ['queued', undefined],
      ['transcribing', 'heard 0 of 42 minutes'],
      ['transcribing', 'heard 5 of 42 minutes'],
      ['transcribing', 'heard 21 of 42 minutes'],
      ['transcribing', 'heard 42 of 42 minutes'],
    ]);
    expect((await read(call)).call?.status).toBe('transcribing');
  });

  it('takes at most ten entries of one attempt, however often it is told, and as many of the next', async () => {
    const call = await uploaded();
    const all = Array.from({ length: 200 }, (_, index) => progressed(call, 0, { heard: index, duration: 200 }));
    for (const event of all) await service.publish(event);
    await service.publish(...all);
    await settled();
    const tenths = (history: [string, string | undefined][]) => history.filter(([status]) => status === 'transcribing');
    const first = tenths(await historyOf(call));
    expect(first.length).toBeLessThanOrEqual(10);
    expect(first[0]).toEqual(['transcribing', 'heard 0 of 3 minutes']);
    await fails(call);
    await retry(call);
    await service.publish(progressed(call, 0, { attempt: 2, heard: 7, duration: 60 }), progressed(call, 42));
    await reaches(call, 'transcribing');
    await settled();
    expect((await historyOf(call)).at(-1)).toEqual(['transcribing', 'heard 7 of 60 seconds']);
  });

  it('does not move a call back that is past it, nor one of another attempt or firm', async () => {
    const [past, ended, early] = [await uploaded(), await uploaded(), await uploaded()];
    await service.publish(heard(past), failed(ended));
    await Promise.all([reaches(past, 'analyzing'), reaches(ended, 'failed')]);
    await service.publish(
      progressed(past, 5),
      progressed(ended, 5),
      progressed(early, 5, { attempt: 2 }),
      progressed({ ...early, owner: service.newOwner() }, 5),
      progressed({ ...early, uuid: randomUUID() }, 5),
      progressed(early, 0, { duration: 0 }),
    );
    await reaches(early, 'transcribing');
    await settled();
    expect((await read(past)).call?.status).toBe('analyzing');
    expect((await read(ended)).call?.status).toBe('failed');
    expect(await historyOf(early)).toEqual([
      ['queued', undefined],
      ['transcribing', 'heard 0 of 0 seconds'],
    ]);
  });

  it('that does not have its form fails no call', async () => {
    const call = await uploaded();
    await service.publish(eventOf(TranscriptionProgressed as EventType, call, { attempt: 1, heard: 'much' }));
    await settled();
    expect(await historyOf(call)).toHaveLength(1);
  });
});

describe('what was heard', () => {
  it('is the transcript of the call, with times, engine, language and notes', async () => {
    const call = await uploaded();
    const notes = ['Nothing is said on the operator’s (left) channel.', 'Second note.'];
    await service.publish(heard(call, { notes }));
    await reaches(call, 'analyzing');
    expect(await transcriptOf(call)).toEqual({ language: 'en', engine: 'moonshine-tiny', utterances });
    expect(await historyOf(call)).toEqual([
      ['queued', undefined],
      ['analyzing', 'heard by moonshine-tiny, language en'],
      ['analyzing', notes[0]],
      ['analyzing', notes[1]],
    ]);
    await service.publish(callAnalyzed(call, noSpeech));
    await reaches(call, 'completed');
  });

  it('is fetched when it was sent by key', async () => {
    const call = await uploaded();
    const key = `transcripts/${call.owner.firmUuid}/${call.uuid}/1.json`;
    await service.putAt(key, JSON.stringify({ utterances }));
    await service.publish(heard(call, { transcript: { key }, language: null }));
    await reaches(call, 'analyzing');
    expect(await transcriptOf(call)).toEqual({ language: null, engine: 'moonshine-tiny', utterances });
  });

  it('may be nothing', async () => {
    const call = await uploaded();
    await service.publish(heard(call, { transcript: { utterances: [] }, language: null }));
    await reaches(call, 'analyzing');
    expect(await transcriptOf(call)).toMatchObject({ utterances: [] });
    expect((await historyOf(call)).at(-1)).toEqual(['analyzing', 'heard by moonshine-tiny']);
  });

  it('is kept once, however often it is told, and in whatever company', async () => {
    const [call, other] = [await uploaded(), await uploaded()];
    const event = heard(call);
    await service.publish(event);
    await reaches(call, 'analyzing');
    const before = await read(call);
    await service.publish(event, heard(other));
    await reaches(other, 'analyzing');
    await settled();
    const { audio: _, ...after } = await read(call);
    expect(before).toMatchObject(after);
  });

  it('comes late: is kept all the same, and the call stays completed or failed', async () => {
    const [done, lost] = [await uploaded(), await uploaded()];
    const late = [heard(done), heard(lost)];
    const time = new Date(Date.now() + 1_000).toISOString();
    await service.publish(
      { ...callAnalyzed(done, noSpeech), time },
      failed(lost, { stage: 'analysis', code: 'TOO_HARD' }),
    );
    await Promise.all([reaches(done, 'completed'), reaches(lost, 'failed')]);
    await service.publish(...late);
    await settled();
    expect((await read(done)).call?.status).toBe('completed');
    expect((await read(lost)).call?.status).toBe('failed');
    for (const call of [done, lost]) expect(await transcriptOf(call)).toMatchObject({ utterances });
    expect((await historyOf(done)).map(([status]) => status)).toEqual(['queued', 'analyzing', 'completed']);
  });

  it('of another attempt, another firm, or a transcript that was uploaded is not kept', async () => {
    const call = await uploaded();
    await service.publish(
      heard(call, { attempt: 2 }),
      heard({ ...call, owner: service.newOwner() }),
      { ...heard(call, { source: 'transcription' }), source: 'ingest' },
      { ...heard(call), source: 'ingest' },
    );
    await settled();
    expect(await transcriptOf(call)).toBeNull();
    expect(await historyOf(call)).toHaveLength(1);
  });

  it('that cannot be read or does not have its form fails the call, which can be retried', async () => {
    const [broken, missing, formless] = [await uploaded(), await uploaded(), await uploaded()];
    const key = `transcripts/${broken.owner.firmUuid}/${broken.uuid}/1.json`;
    await service.putAt(key, '{"utterances": [{"role": "nobody"}]}');
    await service.publish(
      heard(broken, { transcript: { key } }),
      heard(missing, { transcript: { key: `${key}x` } }),
      eventOf(TranscriptReady as EventType, formless, { attempt: 1, source: 'audio' }),
    );
    for (const call of [broken, missing, formless]) {
      await reaches(call, 'failed');
      expect((await read(call)).call?.failure).toMatchObject({
        stage: 'transcription',
        code: 'RESULT_NOT_STORED',
        retryable: true,
      });
    }
    await retry(broken);
    await told(stored, broken, 2);
  });
});

describe('a stage that gives up late', () => {
  it('does not fail a call that a later stage is working on', async () => {
    const [hearing, analyzing] = [await uploaded(), await uploaded()];
    await service.publish(progressed(hearing, 5), heard(analyzing));
    await Promise.all([reaches(hearing, 'transcribing'), reaches(analyzing, 'analyzing')]);
    await service.publish(
      failed(hearing, { stage: 'extraction' }),
      failed(analyzing, { stage: 'extraction' }),
      failed(analyzing),
    );
    await settled();
    expect((await read(hearing)).call?.status).toBe('transcribing');
    expect((await read(analyzing)).call?.status).toBe('analyzing');
    await fails(hearing);
    await fails(analyzing, { stage: 'analysis' });
  });
});

describe('a retry of a recording', () => {
  it('that was never stored asks for it again, as long as its archive is there', async () => {
    const [call, other] = await archived(service.newOwner(), 2);
    const first = await told(requested, call!);
    for (const each of [call!, other!]) await fails(each, { stage: 'extraction', code: 'UNAVAILABLE' });
    expect(await retry(call!)).toMatchObject({ status: 'queued', failure: null });
    const second = await told(requested, call!, 2);
    expect(second).toMatchObject({ priority: 0, data: { ...first.data, attempt: 2 } });
    await record(call!);
    expect((await read(call!)).audio).toBeNull();
    await record(call!, { attempt: 2 });
    expect(await told(stored, call!, 2)).toMatchObject({ priority: 0 });
    await service.db.query('UPDATE batch SET archive_key = NULL WHERE firm_uuid = $1', [call!.owner.firmUuid]);
    const before = await read(other!);
    const fault = await faultOf(retry(other!));
    expect(fault).toMatchObject({ kind: 'conflict', code: 'NOT_RETRYABLE' });
    expect(fault.message).toContain('ZIP');
    expect(await read(other!)).toEqual(before);
  });

  it('that is stored has it heard again, also when no engine knew its language', async () => {
    const [single, [batched]] = [await uploaded(), await archived()];
    await record(batched!);
    for (const call of [single, batched!]) {
      const first = await told(stored, call);
      await fails(call, { code: 'LANGUAGE_NOT_SUPPORTED', message: 'No model knows this language.' });
      await retry(call);
      expect(await told(stored, call, 2)).toMatchObject({ priority: 0, data: { ...first.data, attempt: 2 } });
      await service.publish(heard(call), progressed(call, 5));
      await settled();
      expect((await read(call)).call?.status).toBe('queued');
      await service.publish(heard(call, { attempt: 2 }));
      await reaches(call, 'analyzing');
    }
  });

  it('that was heard has it analysed again, from what is kept', async () => {
    const call = await uploaded();
    await service.publish(heard(call, { notes: ['A note.'] }));
    await reaches(call, 'analyzing');
    await fails(call, { stage: 'analysis', code: 'TOO_HARD' });
    await retry(call);
    expect(await told(ready, call, 2)).toMatchObject({
      source: 'ingest',
      priority: 0,
      data: {
        attempt: 2,
        source: 'audio',
        duration: 2520,
        language: 'en',
        tags: [],
        segment_type: 'support',
        engine: 'moonshine-tiny',
        transcript: { utterances },
      },
    });
    await settled();
    expect(stored.filter(({ subject }) => subject === call.uuid)).toHaveLength(1);
    await service.publish(callAnalyzed(call, { attempt: 2, ...noSpeech }));
    await reaches(call, 'completed');
    expect(await transcriptOf(call)).toMatchObject({ engine: 'moonshine-tiny', utterances });
  });

  it('that was heard at length sends it by key', async () => {
    const call = await uploaded();
    const long = [{ ...utterances[0]!, text: 'я'.repeat(INLINE_BYTES / 2) }];
    await service.publish(heard(call, { transcript: { utterances: long } }));
    await reaches(call, 'analyzing');
    await fails(call, { stage: 'analysis' });
    await retry(call);
    const { transcript } = (await told(ready, call, 2)).data;
    if (!('key' in transcript)) throw new Error('It is inline.');
    expect(await json(await service.parts.objects.open(transcript.key))).toEqual({ utterances: long });
  });

  it('is refused when it failed for good', async () => {
    const [call] = await archived();
    await fails(call!, {
      stage: 'extraction',
      code: 'ENTRY_CORRUPT',
      message: 'The entry is corrupt.',
      retryable: false,
    });
    const fault = await faultOf(retry(call!));
    expect(fault).toMatchObject({ code: 'NOT_RETRYABLE', message: expect.stringContaining('The entry is corrupt.') });
  });
});

describe('a batch of recordings', () => {
  it('shows its kind and how far its calls are', async () => {
    const owner = service.newOwner();
    const calls = await archived(owner, 3);
    await record(calls[0]!);
    await service.publish(progressed(calls[0]!, 5), failed(calls[1]!, { stage: 'extraction', retryable: false }));
    await Promise.all([reaches(calls[0]!, 'transcribing'), reaches(calls[1]!, 'failed')]);
    const { items } = await service.client.listBatches({ ...callerOf(owner), page: 1, size: 10 });
    expect(items).toMatchObject([{ kind: 'audio', accepted: 3, by_status: { queued: 1, transcribing: 1, failed: 1 } }]);
    expect(items[0]).not.toHaveProperty('finished_at');
    const listed = await service.client.listCalls({ ...callerOf(owner), status: ['transcribing'], page: 1, size: 10 });
    expect(listed.items.map(({ uuid, source }) => [uuid, source])).toEqual([[calls[0]!.uuid, 'audio']]);
  });

  it('whose later portion cannot be announced fails those calls at extraction, and a retry brings each back', async () => {
    const owner = service.newOwner();
    await service.db.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no room'; END $$;
       CREATE TRIGGER refuse BEFORE INSERT ON claimed_event FOR EACH ROW WHEN (NEW.consumer = 'ingest.announce')
         EXECUTE FUNCTION refuse()`,
    );
    try {
      const calls = await archived(owner, 502);
      for (const call of calls.slice(500)) {
        await reaches(call, 'failed');
        expect((await read(call)).call?.failure).toMatchObject({
          stage: 'extraction',
          code: 'NOT_ANNOUNCED',
          retryable: true,
        });
      }
      await retry(calls[501]!);
      await told(requested, calls[501]!, 2);
    } finally {
      await service.db.query('DROP TRIGGER refuse ON claimed_event; DROP FUNCTION refuse');
    }
  });
});

describe('opening an upload of recordings', () => {
  it('gives an address and a key for each file', async () => {
    const owner = service.newOwner({ country: 'KG' });
    const names = { metadata_filename: 'звонки.csv', audios_filename: 'Записи 1.ZIP' };
    const opened = await Promise.all([1, 2].map(() => service.client.openUpload({ ...callerOf(owner), ...names })));
    const keys = opened.flatMap(({ metadata_key, audio_key }) => [metadata_key, audio_key!]);
    const prefix = `KG/${owner.firmUuid}/${owner.userUuid}/`;
    expect(new Set(keys).size).toBe(4);
    expect(keys).toEqual(expect.arrayContaining([`${prefix}звонки.csv`, `${prefix}Записи 1.ZIP`]));
    for (const { audio_upload_url, audio_key, expires_in } of opened) {
      expect(decodeURIComponent(audio_upload_url!)).toContain(audio_key);
      expect(expires_in).toBe(3600);
    }
  });
});
