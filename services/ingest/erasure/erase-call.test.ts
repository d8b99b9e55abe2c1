import { randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { route } from '@call-analysis/bus';
import {
  AudioExtractionRequested,
  AudioStored,
  CallErased,
  CallsAccepted,
  createEvent,
  type Event,
  type EventType,
  TranscriptionProgressed,
  TranscriptReady,
} from '@call-analysis/events';
import { type Database, openDatabase } from '@call-analysis/postgres';
import { tracesInFiles, tracesInTables, waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { analyzeCall } from '../calls/analyze-call.ts';
import { recordAudio } from '../calls/record-audio.ts';
import { registerCall } from '../calls/register-call.ts';
import { retryCall } from '../calls/retry-call.ts';
import { changeCampaignState } from '../campaigns/change-campaign-state.ts';
import { createCampaign } from '../campaigns/create-campaign.ts';
import { announceCalls } from '../intake/announce-calls.ts';
import { projectAnalyses, projectFailures } from '../results/project-results.ts';
import { projectProgress, projectTranscripts } from '../results/project-transcripts.ts';
import type { Removed } from '../store/index.ts';
import type { Owner } from '../store/uploads.ts';
import { sweep } from '../sweep.ts';
import {
  analysis,
  audioCsvOf,
  type Call,
  callAnalyzed,
  callFailed,
  csvOf,
  type CsvRow,
  factOf,
  faultOf,
  goodAudio,
  IngestUnderTest,
  objectsBut,
  type Parts,
  recordingOf,
  transcriptReady,
  zipOf,
} from '../test/ingest-under-test.ts';
import { eraseCall } from './erase-call.ts';
import { finishErasures } from './finish-erasure.ts';

// Only its parts: what hears of erasures is asked by the tests, when they want it.
const service = new IngestUnderTest();

/** Where events wait that nobody takes. */
const waiting = 'test.waiting';
let busTables: Database;

beforeAll(async () => {
  const { bus } = service.parts;
  const types: EventType[] = [AudioExtractionRequested, AudioStored, TranscriptReady, CallErased, CallsAccepted];
  const routes = types.map((event) => route({ event, handle: async () => {} }));
  await (await bus.subscribe({ consumer: waiting, routes })).stop();
  busTables = openDatabase({ url: service.config.bus.url, schema: service.config.bus.schema });
});

afterAll(() => busTables?.close());

/** Values that stand nowhere else; in all but the number is the same word. */
function secrets() {
  // An e between digits would make a number of it for PostgreSQL, which takes what follows for another word.
  const word = randomBytes(8).toString('hex').replaceAll('e', 'f');
  return {
    partner_call_id: `id-${word}`,
    client_phone_number: `99${String(Math.random()).slice(2, 14).padEnd(12, '7')}`,
    operator_name: `Operator ${word}`,
    anonymized_text: `<operator>Hello ${word}<client>Hi`,
  } satisfies CsvRow;
}

/** Where the word or the number of these values stands, or the call's uuid. */
async function tracesOf(row: Record<string, string>, call?: Call): Promise<string[]> {
  const found = Object.values(row).flatMap((value) => /[0-9a-f]{16}|\d{14}/.exec(value)?.[0] ?? []);
  const words = [...new Set(found), ...(call === undefined ? [] : [call.uuid])];
  const config = service.config.objects;
  if (config.store !== 'disk') throw new Error('The test looks at a disk.');
  return [
    ...(await tracesInTables(service.db, words)),
    ...(await tracesInTables(busTables, words)),
    ...(await tracesInFiles(config.directory, words)),
  ];
}

/** Besides what says that the call was erased, and the limits of its batch. */
async function nothingLeft(row: Record<string, string>, call: Call): Promise<void> {
  const lasting = /^(ingest\.(batch|call_change|erasure|erased_subject)|bus\.job_common): /;
  const traces = await tracesOf(row, call);
  expect(traces.filter((trace) => !(lasting.test(trace) && trace.endsWith(call.uuid)))).toEqual([]);
  expect(
    await busTables.query("SELECT 1 FROM job WHERE data->>'subject' = $1 AND data->>'type' <> $2", [
      call.uuid,
      CallErased.type,
    ]),
  ).toEqual([]);
}

async function callsIn(owner: Owner, rows: readonly CsvRow[]): Promise<Call[]> {
  await service.upload(owner, csvOf(rows));
  const calls = await service.callsOf(owner);
  return rows.map(({ partner_call_id }) => ({ owner, uuid: calls.find(({ id }) => id === partner_call_id)!.uuid }));
}

async function newCall(row: CsvRow = secrets(), owner = service.newOwner()): Promise<Call> {
  return (await callsIn(owner, [row]))[0]!;
}

function erase({ owner, uuid }: Call, changed: Partial<Parts> = {}) {
  return eraseCall({ ...service.parts, ...changed }, owner.firmUuid, uuid);
}

const counts = (removed: readonly Removed[]) => Object.fromEntries(removed.map(({ what, count }) => [what, count]));

async function analyzed(call: Call, attempt = 1, summary = 'A call.'): Promise<void> {
  await projectAnalyses(service.parts.store, [callAnalyzed(call, { attempt, analysis: { ...analysis, summary } })]);
}

async function failed(call: Call): Promise<void> {
  await projectFailures(service.parts.store, [callFailed(call)]);
}

async function heard(call: Call, said: string): Promise<void> {
  const utterances = [{ role: 'client' as const, text: said, start: 0, end: 1 }];
  await projectTranscripts(service.parts, [transcriptReady(call, { transcript: { utterances } })]);
}

/** A call whose recording came by itself and is stored. */
async function recorded(
  row: { partner_call_id: string; client_phone_number: string; operator_name: string },
  owner = service.newOwner(),
  campaignUuid: string | null = null,
): Promise<Call> {
  const uuid = uuidv7();
  const objectKey = `recordings/${owner.firmUuid}/${uuid}.wav`;
  await service.putAt(objectKey, `the voice of ${row.operator_name}`);
  const { anonymized_text: _, ...metadata } = { anonymized_text: '', ...goodAudio, ...row };
  await registerCall(service.parts, owner, {
    callUuid: uuid,
    fileName: goodAudio.audio_file_name,
    metadata: JSON.stringify(metadata),
    found: { recording: recordingOf({ objectKey }) },
    campaignUuid,
  });
  return { owner, uuid };
}

const batchOf = async ({ owner, uuid }: Call) => {
  const [call] = await service.db.query<{ batch: string }>('SELECT batch_uuid AS batch FROM call WHERE uuid = $1', [
    uuid,
  ]);
  return () => service.parts.store.batches.get(owner.firmUuid, call!.batch);
};

const isThere = async ({ owner, uuid }: Call) => (await service.callsOf(owner)).some((call) => call.uuid === uuid);

describe('an erased call', () => {
  it('leaves nothing behind, though its event travels with those of others, and they stay', async () => {
    const owner = service.newOwner();
    const row = secrets();
    const others = Array.from({ length: 4 }, secrets);
    const [call] = await callsIn(owner, [row, ...others]);
    const batch = await batchOf(call!);
    expect((await tracesOf(row)).map((trace) => trace.split(':')[0])).toEqual(
      expect.arrayContaining(['ingest.call', 'bus.job_common']),
    );
    const { removed } = await erase(call!);
    expect(counts(removed)).toEqual({ call: 1, transcript: 1, history_entry: 1, stored_file: 1, queued_event: 1 });
    await nothingLeft(row, call!);
    expect(await service.callsOf(owner)).toHaveLength(4);
    expect(await batch()).toMatchObject({ accepted: 5, byStatus: { queued: 4, erased: 1 } });
    for (const { anonymized_text } of others) {
      const tables = (await tracesOf({ anonymized_text })).map((trace) => trace.split(':')[0]);
      expect(tables).toEqual(expect.arrayContaining(['ingest.call', 'bus.job_common']));
    }
  });

  it.each(['queued', 'transcribing', 'analyzing', 'completed', 'failed'])(
    'leaves nothing behind when it is %s',
    async (status) => {
      const { anonymized_text: said, ...row } = secrets();
      const call = await recorded(row);
      if (status === 'transcribing') {
        const progress = { attempt: 1, heard: 10, duration: 60 };
        await projectProgress(service.parts.store, [factOf(TranscriptionProgressed, call, progress)]);
      }
      if (status !== 'queued' && status !== 'transcribing') await heard(call, said);
      if (status === 'failed') await failed(call);
      if (status === 'completed') await analyzed(call, 1, said);
      expect((await service.parts.store.calls.get(call.owner.firmUuid, call.uuid)).status).toBe(status);
      const { removed } = await erase(call);
      expect(counts(removed)).toMatchObject({ call: 1, recording: 1 });
      await nothingLeft({ ...row, said }, call);
    },
  );

  it('goes with all its analyses and every file that was too long for an event', async () => {
    const row = secrets();
    const long = { ...row, anonymized_text: row.anonymized_text + ' so it goes'.repeat(30_000) };
    const call = await newCall(long);
    await analyzed(call, 1, row.operator_name);
    await analyzeCall(service.parts, call.owner.firmUuid, call.uuid);
    await analyzed(call, 2, row.operator_name);
    const { removed } = await erase(call);
    expect(counts(removed)).toMatchObject({ analysis: 2, stored_file: 3, queued_event: 2 });
    await nothingLeft(row, call);
  });

  it('goes from what its facts have left in the store because they were too large for a broker', async () => {
    const row = secrets();
    const call = await newCall(row);
    const others = await newCall(secrets());
    const bodyOf = ({ owner, uuid }: Call) => `facts/${owner.firmUuid}/${uuid}/${randomUUID()}`;
    const { objects } = service.parts;
    for (const one of [call, call, others]) await objects.put(bodyOf(one), Readable.from([row.anonymized_text]));
    const { removed } = await erase(call);
    expect(counts(removed)).toMatchObject({ stored_file: 3 });
    const left: string[] = [];
    for await (const { key } of objects.list(`facts/${others.owner.firmUuid}/`)) left.push(key);
    expect(left).toHaveLength(1);
  });

  it('goes from the search index, be it indexed or not, as does what it alone had there', async () => {
    const owner = service.newOwner();
    const [row, waiting] = [secrets(), secrets()];
    const [call] = await callsIn(owner, [row]);
    // Its language is known then, and its words are indexed by it.
    await analyzed(call!);
    await waitUntil(async () => {
      await service.parts.store.search.catchUp(owner.firmUuid, { words: true, withinMs: 60_000 });
      return (await tracesOf(row)).some((trace) => trace.startsWith('ingest.call_text'));
    });
    await erase(call!);
    await nothingLeft(row, call!);
    const [late] = await callsIn(owner, [waiting]);
    await erase(late!);
    expect(await service.parts.store.search.catchUp(owner.firmUuid, { words: true, withinMs: 60_000 })).toBe(true);
    await nothingLeft(waiting, late!);
    expect(await service.parts.store.search.count(owner.firmUuid)).toBe(0);
  });

  it('is none to those of another firm, who cannot erase it either', async () => {
    const call = await newCall();
    const stranger = { owner: service.newOwner(), uuid: call.uuid };
    expect(await faultOf(erase(stranger))).toMatchObject({ code: 'NOT_FOUND' });
    expect(await isThere(call)).toBe(true);
  });

  it('is erased once: asked again there is no such call, and of two at a time one is told so or both get the receipt', async () => {
    const call = await newCall();
    const answers = await Promise.allSettled([erase(call), erase(call), erase(call)]);
    const receipts = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    expect(receipts.length).toBeGreaterThan(0);
    expect(new Set(receipts.map(({ erasedAt }) => erasedAt.getTime())).size).toBe(1);
    const reasons = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
    for (const reason of reasons) expect(reason).toMatchObject({ code: 'NOT_FOUND' });
    expect(await faultOf(erase(call))).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('goes quickly though many go at the same time: none waits for another in vain', async () => {
    const owner = service.newOwner();
    const calls = await callsIn(owner, Array.from({ length: 50 }, secrets));
    const timeOf = async (work: () => Promise<unknown>) => {
      const began = performance.now();
      await work();
      return performance.now() - began;
    };
    const ten = await timeOf(async () => {
      for (const call of calls.slice(40)) await erase(call);
    });
    const forty = await timeOf(() => Promise.all(calls.slice(0, 40).map((call) => erase(call))));
    // A connection that is waited for in vain is given up after ten seconds; a machine that stands still does so for less.
    expect(forty).toBeLessThan(8_000 + 10 * ten);
    expect(await service.callsOf(owner)).toEqual([]);
  });

  it('gives its partner_call_id back', async () => {
    const row = secrets();
    const call = await newCall(row);
    await erase(call);
    const again = await newCall(row, call.owner);
    expect(again.uuid).not.toBe(call.uuid);
    expect(await isThere(again)).toBe(true);
  });

  it('is not brought back by what is told of it late', async () => {
    const { anonymized_text: said, ...row } = secrets();
    const call = await recorded(row);
    await erase(call);
    await heard(call, said);
    await analyzed(call, 1, said);
    await failed(call);
    const progress = { attempt: 1, heard: 10, duration: 60 };
    await projectProgress(service.parts.store, [factOf(TranscriptionProgressed, call, progress)]);
    const { firmUuid } = call.owner;
    const late = { firmUuid, callUuid: call.uuid, attempt: 1, recording: recordingOf(), traceparent: undefined };
    expect(await faultOf(recordAudio(service.parts, late))).toMatchObject({ code: 'NOT_FOUND' });
    const again = {
      callUuid: call.uuid,
      fileName: goodAudio.audio_file_name,
      metadata: JSON.stringify({ ...goodAudio, ...row }),
      found: { recording: recordingOf() },
      campaignUuid: null,
    };
    expect(await faultOf(registerCall(service.parts, call.owner, again))).toMatchObject({ code: 'NOT_FOUND' });
    const byKey = {
      attempt: 1,
      source: 'audio' as const,
      duration: 60,
      language: null,
      tags: [],
      segment_type: 'support',
    };
    await projectTranscripts(service.parts, [
      factOf(TranscriptReady, call, { ...byKey, transcript: { key: 'transcripts/gone' } }),
    ]);
    await nothingLeft({ ...row, said }, call);
  });

  it('goes on counting in its campaign, as erased, and its score no more', async () => {
    const owner = service.newOwner();
    const campaign = await createCampaign(
      service.parts,
      { ...owner, address: '' },
      {
        name: 'Calls',
        externalId: null,
        description: null,
        segmentType: null,
        startsAt: null,
        endsAt: null,
      },
    );
    await changeCampaignState(service.parts, { ...owner, address: '' }, campaign.uuid, 'start');
    const [first, second] = [
      await recorded(secrets(), owner, campaign.uuid),
      await recorded(secrets(), owner, campaign.uuid),
    ];
    await analyzed(first);
    await erase(first);
    const now = () => service.parts.store.campaigns.get(owner.firmUuid, campaign.uuid);
    expect(await now()).toMatchObject({ callsTotal: 2, callsByStatus: { queued: 1, erased: 1 }, averageScore: null });
    await service.parts.store.tally.fold();
    await erase(second);
    expect(await now()).toMatchObject({ callsTotal: 2, callsByStatus: { erased: 2 } });
  });

  it('is not announced any more, though its portion had been read already', async () => {
    const owner = service.newOwner();
    const [gone, kept] = [secrets(), secrets()];
    const long = (row: CsvRow) => ({ ...row, anonymized_text: row.anonymized_text + ' so it goes'.repeat(30_000) });
    const [call, other] = await callsIn(owner, [long(gone), long(kept)]);
    const uuids = [call!.uuid, other!.uuid].toSorted();
    const { batch } = (await service.callsOf(owner))[0]!;
    const accepted = createEvent(
      'ingest',
      CallsAccepted,
      batch,
      { firmuuid: owner.firmUuid, priority: 1 },
      { first: uuids[0]!, last: uuids[1]! },
    );
    let puts = 0;
    const objects = objectsBut(service.parts.objects, {
      async put(key, bytes) {
        const done = await service.parts.objects.put(key, bytes);
        // Both have been read and stored; neither is announced.
        if ((puts += 1) === 2) await erase(call!);
        return done;
      },
    });
    await announceCalls({ ...service.parts, objects }, accepted);
    await nothingLeft(gone, call!);
    expect((await tracesOf({ text: kept.anonymized_text })).some((trace) => trace.includes('transcripts'))).toBe(true);
  });

  it('goes though it is retried at the same time', async () => {
    const row = secrets();
    const call = await newCall(row);
    await failed(call);
    const { firmUuid } = call.owner;
    const [, erased] = await Promise.allSettled([retryCall(service.parts, firmUuid, call.uuid), erase(call)]);
    expect(erased.status).toBe('fulfilled');
    await nothingLeft(row, call);
  });
});

describe('a batch', () => {
  const ended = (call: Call, at: string) =>
    service.db.query(`UPDATE call SET status = 'completed', updated_at = $2 WHERE uuid = $1`, [call.uuid, at]);

  it('stays finished when it was, although the call that ended last is erased, and then all', async () => {
    const calls = await callsIn(service.newOwner(), [{ partner_call_id: 'a' }, { partner_call_id: 'b' }]);
    const progress = await batchOf(calls[0]!);
    await ended(calls[0]!, '2100-01-01T00:00:00.544Z');
    await ended(calls[1]!, '2100-01-01T00:00:00.545Z');
    const { finishedAt } = await progress();
    expect(finishedAt).toEqual(new Date('2100-01-01T00:00:00.545Z'));
    for (const call of calls.toReversed()) {
      await erase(call);
      expect((await progress()).finishedAt).toEqual(finishedAt);
    }
  });

  it('of which the last call at work is erased was finished by that', async () => {
    const calls = await callsIn(service.newOwner(), [{ partner_call_id: 'a' }, { partner_call_id: 'b' }]);
    const progress = await batchOf(calls[0]!);
    await ended(calls[0]!, new Date().toISOString());
    const { erasedAt } = await erase(calls[1]!);
    expect((await progress()).finishedAt).toEqual(erasedAt);
  });
});

describe('the archive of a batch', () => {
  it('stays while another call needs it, and goes with the last one that does', async () => {
    const owner = service.newOwner();
    const names = ['a.wav', 'b.wav', 'c.wav'];
    await service.uploadBatch(owner, audioCsvOf(names.map((audio_file_name) => ({ audio_file_name }))), zipOf(names));
    const calls = (await service.callsOf(owner)).map(({ uuid }) => ({ owner, uuid }));
    const { archives, removed } = { archives: () => service.objectsOf(owner), removed: [] as Record<string, number>[] };
    const batch = await batchOf(calls[0]!);
    for (const call of calls) {
      expect(await archives()).toHaveLength(1);
      removed.push(counts((await erase(call)).removed));
    }
    expect(await archives()).toEqual([]);
    // The first takes what was uploaded, the last the archive.
    expect(removed.map((each) => each['stored_file'] ?? 0)).toEqual([2, 0, 1]);
    expect(await batch()).toMatchObject({ accepted: 3, byStatus: { erased: 3 } });
  });

  it('goes by the sweep when the others have come out of it', async () => {
    const owner = service.newOwner();
    const names = ['a.wav', 'b.wav'];
    await service.uploadBatch(owner, audioCsvOf(names.map((audio_file_name) => ({ audio_file_name }))), zipOf(names));
    const [first, second] = (await service.callsOf(owner)).map(({ uuid }) => ({ owner, uuid }));
    await erase(first!);
    const extracted = { firmUuid: owner.firmUuid, callUuid: second!.uuid, attempt: 1, recording: recordingOf() };
    await recordAudio(service.parts, { ...extracted, traceparent: undefined });
    await sweep(service.parts, new Date());
    expect(await service.objectsOf(owner)).toEqual([]);
  });
});

describe('copies among refused rows', () => {
  it('go with the call, by its id, its text, or its number with its time, and no other rows', async () => {
    const owner = service.newOwner();
    const row = secrets();
    const other = secrets();
    const refused = [
      { ...row, duration: 'long', operator_name: 'by id' },
      { ...row, duration: 'long', partner_call_id: 'x', client_phone_number: '998900000000', operator_name: 'by text' },
      {
        ...row,
        duration: 'long',
        partner_call_id: 'y',
        anonymized_text: '<client>Hm',
        operator_name: 'by number and time',
      },
      { ...other, duration: 'long', operator_name: 'another' },
    ];
    await service.upload(owner, csvOf(refused), 'skip');
    await service.upload(owner, csvOf([{ ...row, duration: 'long' }]), 'skip');
    const keys = async () => (await service.objectsOf(owner)).filter((key) => key.startsWith('rejected/'));
    const files = await keys();
    expect(files).toHaveLength(2);
    const read = async (key: string) => text(await service.parts.objects.open(key));
    const contents = new Map<string, string>();
    for (const key of files) contents.set(key, await read(key));
    const call = await newCall(row, owner);
    expect(counts((await erase(call)).removed)).toMatchObject({ refused_row: 4 });
    const left = await keys();
    expect(left).toHaveLength(1);
    const lines = contents.get(left[0]!)!.split('\r\n');
    expect(await read(left[0]!)).toBe([lines[0], lines[4], ''].join('\r\n'));
    await nothingLeft(row, call);
  });

  it('go out of a file that stays as it was written: byte order mark, line of its separator and separator', async () => {
    const owner = service.newOwner();
    const [row, other] = [secrets(), secrets()];
    const written = csvOf([
      { ...row, duration: 'long' },
      { ...other, duration: 'long' },
    ])
      .split(',')
      .join(';');
    await service.upload(owner, `\ufeffsep=;\n${written}`, 'skip');
    const file = async () => {
      const [key] = (await service.objectsOf(owner)).filter((each) => each.startsWith('rejected/'));
      // `text` would leave the mark out.
      return (await buffer(await service.parts.objects.open(key!))).toString();
    };
    const before = (await file()).split('\r\n');
    expect(before.slice(0, 2)).toEqual(['\ufeffsep=;', expect.stringMatching(/^\w+(;\w+)+;reject_reason$/)]);
    await erase(await newCall(row, owner));
    expect(await file()).toBe([before[0], before[1], before[3], ''].join('\r\n'));
  });

  it('go though several calls of one file are erased at the same time: none brings the rows of another back', async () => {
    const owner = service.newOwner();
    const [rows, other] = [Array.from({ length: 8 }, () => secrets()), secrets()];
    await service.upload(owner, csvOf([...rows, other].map((row) => ({ ...row, duration: 'long' }))), 'skip');
    const calls = await callsIn(owner, rows);
    const erasures = await Promise.all(calls.map((call) => erase(call)));
    expect(erasures.map(({ removed }) => counts(removed)['refused_row'])).toEqual(rows.map(() => 1));
    const [file, ...others] = (await service.objectsOf(owner)).filter((key) => key.startsWith('rejected/'));
    expect(others).toEqual([]);
    const left = await text(await service.parts.objects.open(file!));
    expect(left).toContain(other.partner_call_id);
    expect(rows.filter(({ partner_call_id }) => left.includes(partner_call_id))).toEqual([]);
  });

  it('of another firm stay', async () => {
    const row = secrets();
    const stranger = service.newOwner();
    await service.upload(stranger, csvOf([{ ...row, duration: 'long' }]), 'skip');
    expect(counts((await erase(await newCall(row))).removed)['refused_row']).toBeUndefined();
    expect((await service.objectsOf(stranger)).filter((key) => key.startsWith('rejected/'))).toHaveLength(1);
  });
});

describe('an erasure that is broken off', () => {
  const broken = async (): Promise<never> => {
    throw new Error('broken off');
  };

  async function finishes(call: Call, row: Record<string, string>): Promise<void> {
    await finishErasures(service.parts, factOf(CallErased, call, { erased_at: new Date().toISOString() }));
    await nothingLeft(row, call);
    expect(await faultOf(erase(call))).toMatchObject({ code: 'NOT_FOUND' });
  }

  it('before it is told leaves the call whole', async () => {
    const row = secrets();
    const call = await newCall(row);
    const bus = { ...service.parts.bus, publish: broken };
    await expect(erase(call, { bus })).rejects.toThrow('broken off');
    expect(await isThere(call)).toBe(true);
    await erase(call);
    await nothingLeft(row, call);
  });

  it.each(['list', 'head', 'remove'] as const)(
    'when the store cannot %s is finished by whoever hears of it',
    async (deed) => {
      const row = secrets();
      const { anonymized_text: _, ...metadata } = row;
      const call = deed === 'remove' ? await recorded(metadata) : await newCall(row);
      const objects = objectsBut(service.parts.objects, {
        [deed]: deed === 'list' ? () => ({ [Symbol.asyncIterator]: () => ({ next: broken }) }) : broken,
      });
      const receipt = await erase(call, { objects });
      expect(receipt).toMatchObject({
        finishedAt: null,
        removed: expect.arrayContaining([{ what: 'call', count: 1 }]),
      });
      expect(await isThere(call)).toBe(false);
      await finishes(call, row);
    },
  );

  it('when events cannot be taken out is finished by whoever hears of it', async () => {
    const row = secrets();
    const call = await newCall(row);
    expect((await erase(call, { bus: { ...service.parts.bus, removePending: broken } })).finishedAt).toBeNull();
    await finishes(call, row);
  });

  it('by an archive that cannot be removed leaves it to the sweep', async () => {
    const owner = service.newOwner();
    await service.uploadBatch(owner, audioCsvOf([{ audio_file_name: 'a.wav' }]), zipOf(['a.wav']));
    const [call] = (await service.callsOf(owner)).map(({ uuid }) => ({ owner, uuid }));
    await erase(call!, { objects: objectsBut(service.parts.objects, { remove: broken }) });
    await finishErasures(service.parts, factOf(CallErased, call!, { erased_at: new Date().toISOString() }));
    await sweep(service.parts, new Date(Date.now() + 7 * 3600_000));
    expect(await service.objectsOf(owner)).toEqual([]);
  });

  it('gives its receipt again until what was in hand has ended', async () => {
    const row = secrets();
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { owner } = { owner: service.newOwner() };
    const handle = async (events: readonly Event[]) => {
      if (!events.some(({ firmuuid }) => firmuuid === owner.firmUuid)) return;
      begun.resolve();
      await end.promise;
    };
    const held = await service.parts.bus.subscribe({
      consumer: 'test.holding',
      routes: [route({ event: TranscriptReady, handle })],
    });
    const call = await newCall(row, owner);
    await begun.promise;
    const first = await erase(call);
    expect(first.finishedAt).toBeNull();
    const again = await erase(call);
    expect(again).toMatchObject({ erasedAt: first.erasedAt, removed: first.removed });
    end.resolve();
    await waitUntil(async () => {
      const holding = (await service.parts.bus.depths()).find(({ consumer }) => consumer === 'test.holding')!;
      return holding.waiting + holding.active === 0;
    });
    await finishes(call, row);
    await held.stop();
  });
});

it('erasures are forgotten after thirty days, once they are finished', async () => {
  const call = await newCall();
  await erase(call);
  const days = (count: number) =>
    service.db.query(
      `WITH aged AS (UPDATE erased_subject SET at = at - make_interval(days => $2) WHERE subject = $1)
       UPDATE erasure SET finished_at = finished_at - make_interval(days => $2) WHERE call_uuid = $1`,
      [call.uuid, count],
    );
  const kept = () =>
    service.db.query('SELECT 1 FROM erasure JOIN erased_subject ON subject = call_uuid WHERE call_uuid = $1', [
      call.uuid,
    ]);
  await days(29);
  await sweep(service.parts, new Date());
  expect(await kept()).toHaveLength(1);
  await days(2);
  await sweep(service.parts, new Date());
  expect(await kept()).toHaveLength(0);
});
