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
import { withContext } from '@call-analysis/runtime';
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

/** No event for this service is pending or in progress. */
function settled(): Promise<boolean> {
  return waitUntil(async () => {
    const depths = await service.deps.bus.depths();
    return depths.every(({ consumer, waiting, active }) => !consumer.startsWith('ingest.') || waiting + active === 0);
  });
}

function published<Body>(events: readonly Event<Body>[], { uuid }: Call, attempt = 1): Promise<Event<Body>> {
  const isIt = ({ subject, data }: Event<Body>) =>
    subject === uuid && (data as { readonly attempt: number }).attempt === attempt;
  return waitUntil(() => events.find(isIt));
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

/** A single upload. */
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

/** Calls of a batch whose recordings are still in its archive. */
async function archived(owner = service.newOwner(), count = 1): Promise<Call[]> {
  const names = fileNames(count);
  await service.uploadBatch(owner, audioCsvOf(names.map((audio_file_name) => ({ audio_file_name }))), zipOf(names));
  return (await service.callsOf(owner)).map(({ uuid }) => ({ owner, uuid }));
}

function record({ owner, uuid }: Call, change: object = {}) {
  return service.client.recordAudio({ firm_uuid: owner.firmUuid, call_uuid: uuid, attempt: 1, recording, ...change });
}

const redactOf = ({ uuid }: Call) =>
  waitUntil(() => stored.find(({ subject }) => subject === uuid)).then(({ data }) => data.redact);

it.each([
  ['none' as const, undefined],
  ['for_model' as const, undefined],
  ['stored' as const, true],
])(
  'with the setting redaction: %s of a firm the transcription of a recording is told: redact %s',
  async (redaction, redact) => {
    const owner = service.newOwner({ redaction });
    expect(await redactOf(await uploaded(owner))).toBe(redact);
    const [call] = await archived(owner);
    await record(call!);
    expect(await redactOf(call!)).toBe(redact);
  },
);

const utterances = [
  { role: 'operator' as const, text: 'Hello', start: 0.5, end: 1.25 },
  { role: 'client' as const, text: 'Hi', start: 1.5, end: 2 },
];

function transcribed(call: Call, change: Partial<BodyOf<typeof TranscriptReady>> = {}) {
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

describe('a recording that was extracted from its archive', () => {
  it('is published as stored, with the priority of its position in the batch, and shown with the call', async () => {
    const calls = await archived(service.newOwner(), 12);
    for (const call of [calls[0]!, calls[11]!]) {
      expect((await read(call)).audio).toBeNull();
      const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
      await withContext({ requestId: call.uuid, traceparent }, () => record(call));
      expect(await published(stored, call)).toMatchObject({
        priority: call === calls[0] ? 1 : 2,
        // Another span of the same trace.
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
      ['queued', 'recording extracted from its archive'],
    ]);
  });

  it('is recorded once when it is reported repeatedly or at the same time', async () => {
    const [call] = await archived();
    await Promise.all([record(call!), record(call!), record(call!)]);
    await record(call!, { recording: { ...recording, object_key: 'recordings/other.wav' } });
    await published(stored, call!);
    const marker = await uploaded(call!.owner);
    await published(stored, marker);
    expect(stored.filter(({ subject }) => subject === call!.uuid)).toHaveLength(1);
    expect(await historyOf(call!)).toHaveLength(2);
    expect((await read(call!)).audio?.url).toContain('a.wav');
  });

  it('changes nothing when the call has ended, for another attempt, or for another firm', async () => {
    const [ended, early, foreign] = await archived(service.newOwner(), 3);
    await fails(ended!, { stage: 'extraction', code: 'ENTRY_CORRUPT', retryable: false });
    await record(ended!);
    await record(early!, { attempt: 2 });
    const otherFirm = service.newOwner();
    expect(await faultOf(record({ ...foreign!, owner: otherFirm }))).toMatchObject({ code: 'NOT_FOUND' });
    for (const call of [ended!, early!, foreign!]) expect((await read(call)).audio).toBeNull();
    expect(stored.some(({ firmuuid }) => firmuuid === ended!.owner.firmUuid)).toBe(false);
  });

  it('is refused when its fields are invalid', async () => {
    const [call] = await archived();
    for (const change of [{ format: 'opus' }, { sha256: Buffer.alloc(5) }, { channels: 0 }, { object_key: '' }]) {
      await expect(record(call!, { recording: { ...recording, ...change } })).rejects.toMatchObject({
        kind: 'invalid',
      });
    }
    await expect(record(call!, { recording: null })).rejects.toMatchObject({ kind: 'invalid' });
  });
});

describe('the progress of a transcription', () => {
  it('adds one history entry for each tenth, and never goes back', async () => {
    const call = await uploaded();
    const minutes = [0, 0, 5, 4, 2, 21, 8, 21.5, 42];
    for (const each of minutes) {
      await service.publish(progressed(call, each));
      await settled();
    }
    expect(await historyOf(call)).toEqual([
      ['queued', undefined],
      ['transcribing', 'transcribed 0 of 42 minutes'],
      ['transcribing', 'transcribed 5 of 42 minutes'],
      ['transcribing', 'transcribed 21 of 42 minutes'],
      ['transcribing', 'transcribed 42 of 42 minutes'],
    ]);
    expect((await read(call)).call?.status).toBe('transcribing');
  });

  it('adds at most ten entries in each attempt, however many events arrive', async () => {
    const call = await uploaded();
    const all = Array.from({ length: 200 }, (_, index) => progressed(call, 0, { heard: index, duration: 200 }));
    for (const event of all) await service.publish(event);
    await service.publish(...all);
    await settled();
    const tenths = (history: [string, string | undefined][]) => history.filter(([status]) => status === 'transcribing');
    const first = tenths(await historyOf(call));
    expect(first.length).toBeLessThanOrEqual(10);
    expect(first[0]).toEqual(['transcribing', 'transcribed 0 of 3 minutes']);
    await fails(call);
    await retry(call);
    await service.publish(progressed(call, 0, { attempt: 2, heard: 7, duration: 60 }), progressed(call, 42));
    await reaches(call, 'transcribing');
    await settled();
    expect((await historyOf(call)).at(-1)).toEqual(['transcribing', 'transcribed 7 of 60 seconds']);
  });

  it('does not change a call in a later status, of another attempt, or of another firm', async () => {
    const [past, ended, early] = [await uploaded(), await uploaded(), await uploaded()];
    await service.publish(transcribed(past), failed(ended));
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
      ['transcribing', 'transcribed 0 of 0 seconds'],
    ]);
  });

  it('does not fail the call when its event is invalid', async () => {
    const call = await uploaded();
    await service.publish(eventOf(TranscriptionProgressed as EventType, call, { attempt: 1, heard: 'much' }));
    await settled();
    expect(await historyOf(call)).toHaveLength(1);
  });
});

describe('the transcript of a recording', () => {
  it('is shown with the call: times, engine, language, and notes in the history', async () => {
    const call = await uploaded();
    const notes = ['Nothing is said on the operator’s (left) channel.', 'Second note.'];
    await service.publish(transcribed(call, { notes }));
    await reaches(call, 'analyzing');
    expect(await transcriptOf(call)).toEqual({ language: 'en', engine: 'moonshine-tiny', utterances });
    expect(await historyOf(call)).toEqual([
      ['queued', undefined],
      ['analyzing', 'transcribed by moonshine-tiny, language en'],
      ['analyzing', notes[0]],
      ['analyzing', notes[1]],
    ]);
    await service.publish(callAnalyzed(call, noSpeech));
    await reaches(call, 'completed');
  });

  it('is read from the object store when the event has its key', async () => {
    const call = await uploaded();
    const key = `transcripts/${call.owner.firmUuid}/${call.uuid}/1.json`;
    await service.putAt(key, JSON.stringify({ utterances }));
    await service.publish(transcribed(call, { transcript: { key }, language: null }));
    await reaches(call, 'analyzing');
    expect(await transcriptOf(call)).toEqual({ language: null, engine: 'moonshine-tiny', utterances });
  });

  it('may have no utterances', async () => {
    const call = await uploaded();
    await service.publish(transcribed(call, { transcript: { utterances: [] }, language: null }));
    await reaches(call, 'analyzing');
    expect(await transcriptOf(call)).toMatchObject({ utterances: [] });
    expect((await historyOf(call)).at(-1)).toEqual(['analyzing', 'transcribed by moonshine-tiny']);
  });

  it('is stored once when its event is delivered again, alone or with others', async () => {
    const [call, other] = [await uploaded(), await uploaded()];
    const event = transcribed(call);
    await service.publish(event);
    await reaches(call, 'analyzing');
    const before = await read(call);
    await service.publish(event, transcribed(other));
    await reaches(other, 'analyzing');
    await settled();
    const { audio: _, ...after } = await read(call);
    expect(before).toMatchObject(after);
  });

  it('is stored even after the call has ended, and the call stays completed or failed', async () => {
    const [done, lost] = [await uploaded(), await uploaded()];
    const late = [transcribed(done), transcribed(lost)];
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

  it('is not stored for another attempt, another firm, or an uploaded transcript', async () => {
    const call = await uploaded();
    await service.publish(
      transcribed(call, { attempt: 2 }),
      transcribed({ ...call, owner: service.newOwner() }),
      { ...transcribed(call, { source: 'transcription' }), source: 'ingest' },
      { ...transcribed(call), source: 'ingest' },
    );
    await settled();
    expect(await transcriptOf(call)).toBeNull();
    expect(await historyOf(call)).toHaveLength(1);
  });

  it('fails the call, retryably, when it cannot be read or its event is invalid', async () => {
    const [broken, missing, formless] = [await uploaded(), await uploaded(), await uploaded()];
    const key = `transcripts/${broken.owner.firmUuid}/${broken.uuid}/1.json`;
    await service.putAt(key, '{"utterances": [{"role": "nobody"}]}');
    await service.publish(
      transcribed(broken, { transcript: { key } }),
      transcribed(missing, { transcript: { key: `${key}x` } }),
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
    await published(stored, broken, 2);
  });
});

describe('a stage that gives up late', () => {
  it('does not fail a call that a later stage is processing', async () => {
    const [transcribing, analyzing] = [await uploaded(), await uploaded()];
    await service.publish(progressed(transcribing, 5), transcribed(analyzing));
    await Promise.all([reaches(transcribing, 'transcribing'), reaches(analyzing, 'analyzing')]);
    await service.publish(
      failed(transcribing, { stage: 'extraction' }),
      failed(analyzing, { stage: 'extraction' }),
      failed(analyzing),
    );
    await settled();
    expect((await read(transcribing)).call?.status).toBe('transcribing');
    expect((await read(analyzing)).call?.status).toBe('analyzing');
    await fails(transcribing);
    await fails(analyzing, { stage: 'analysis' });
  });
});

describe('a retry of a recording', () => {
  it('requests the extraction again while the archive is kept', async () => {
    const [call, other] = await archived(service.newOwner(), 2);
    const first = await published(requested, call!);
    for (const each of [call!, other!]) await fails(each, { stage: 'extraction', code: 'UNAVAILABLE' });
    expect(await retry(call!)).toMatchObject({ status: 'queued', failure: null });
    const second = await published(requested, call!, 2);
    expect(second).toMatchObject({ priority: 0, data: { ...first.data, attempt: 2 } });
    await record(call!);
    expect((await read(call!)).audio).toBeNull();
    await record(call!, { attempt: 2 });
    expect(await published(stored, call!, 2)).toMatchObject({ priority: 0 });
    await service.db.query('UPDATE batch SET archive_key = NULL WHERE firm_uuid = $1', [call!.owner.firmUuid]);
    const before = await read(other!);
    const fault = await faultOf(retry(other!));
    expect(fault).toMatchObject({ kind: 'conflict', code: 'NOT_RETRYABLE' });
    expect(fault.message).toContain('ZIP');
    expect(await read(other!)).toEqual(before);
  });

  it('requests the transcription again when the recording is stored, even for an unsupported language', async () => {
    const [single, [batched]] = [await uploaded(), await archived()];
    await record(batched!);
    for (const call of [single, batched!]) {
      const first = await published(stored, call);
      await fails(call, { code: 'LANGUAGE_NOT_SUPPORTED', message: 'No model knows this language.' });
      await retry(call);
      expect(await published(stored, call, 2)).toMatchObject({ priority: 0, data: { ...first.data, attempt: 2 } });
      await service.publish(transcribed(call), progressed(call, 5));
      await settled();
      expect((await read(call)).call?.status).toBe('queued');
      await service.publish(transcribed(call, { attempt: 2 }));
      await reaches(call, 'analyzing');
    }
  });

  it('requests the analysis again from the stored transcript', async () => {
    const call = await uploaded();
    await service.publish(transcribed(call, { notes: ['A note.'] }));
    await reaches(call, 'analyzing');
    await fails(call, { stage: 'analysis', code: 'TOO_HARD' });
    await retry(call);
    expect(await published(ready, call, 2)).toMatchObject({
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

  it('sends the key of a long transcript instead of its text', async () => {
    const call = await uploaded();
    const long = [{ ...utterances[0]!, text: 'я'.repeat(INLINE_BYTES / 2) }];
    await service.publish(transcribed(call, { transcript: { utterances: long } }));
    await reaches(call, 'analyzing');
    await fails(call, { stage: 'analysis' });
    await retry(call);
    const { transcript } = (await published(ready, call, 2)).data;
    if (!('key' in transcript)) throw new Error('The transcript is inline.');
    expect(await json(await service.deps.objects.open(transcript.key))).toEqual({ utterances: long });
  });

  it('is refused when the call failed permanently', async () => {
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
  it('shows its kind and the statuses of its calls', async () => {
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

  it('fails the calls of a range that cannot be announced, at extraction, and each can be retried', async () => {
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
      await published(requested, calls[501]!, 2);
    } finally {
      await service.db.query('DROP TRIGGER refuse ON claimed_event; DROP FUNCTION refuse');
    }
  });
});

describe('opening an upload of recordings', () => {
  it('returns a URL and a key for each file', async () => {
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
