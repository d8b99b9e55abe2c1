import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { CallsAccepted, createEvent, TranscriptionProgressed, TranscriptReady } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { analyzeCall } from '../attempts/analyze-call.ts';
import { retryCall } from '../attempts/retry-call.ts';
import { announceCalls } from '../batches/announce-calls.ts';
import { changeCampaignState, createCampaign } from '../campaigns/change-campaign.ts';
import { recordAudio, registerCall } from '../intake/register-call.ts';
import { projectAnalyses, projectFailures, projectProgress, projectTranscripts } from '../results/project-results.ts';
import { sweep } from '../sweep.ts';
import { audioCsvOf, csvOf, type CsvRow, goodAudio } from '../test/csv.ts';
import { counts, ErasedCalls, secrets } from '../test/erased-calls.ts';
import { analysis, type Call, callAnalyzed, callFailed, eventOf, transcriptReady } from '../test/events.ts';
import { faultOf, objectsBut, recordingOf, zipOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import type { Erasure } from './erasure-store.ts';

// Not serving, so that no consumer finishes an erasure by itself.
const service = new IngestUnderTest();
const calls = new ErasedCalls(service);

async function analyzed(call: Call, attempt = 1, summary = 'A call.'): Promise<void> {
  await projectAnalyses(service.deps, [callAnalyzed(call, { attempt, analysis: { ...analysis, summary } })]);
}

async function failed(call: Call): Promise<void> {
  await projectFailures(service.deps, [callFailed(call)]);
}

async function transcribed(call: Call, said: string): Promise<void> {
  const utterances = [{ role: 'client' as const, text: said, start: 0, end: 1 }];
  await projectTranscripts(service.deps, [transcriptReady(call, { transcript: { utterances } })]);
}

/** Returns a function that reads the batch of a call. */
const batchOf = async ({ owner, uuid }: Call) => {
  const [call] = await service.db.query<{ batch: string }>('SELECT batch_uuid AS batch FROM call WHERE uuid = $1', [
    uuid,
  ]);
  return () => service.deps.batches.get(owner.firmUuid, call!.batch);
};

describe('an erased call', () => {
  it('leaves no trace in tables, queues and files, even when its event is in a batch with others, which stay', async () => {
    const owner = service.newOwner();
    const row = secrets();
    const others = Array.from({ length: 4 }, secrets);
    const [call] = await calls.upload(owner, [row, ...others]);
    const batch = await batchOf(call!);
    expect((await calls.tracesOf(row)).map((trace) => trace.split(':')[0])).toEqual(
      expect.arrayContaining(['ingest.call', 'bus.job_common']),
    );
    const { removed } = await calls.erase(call!);
    expect(counts(removed)).toEqual({ call: 1, transcript: 1, history_entry: 1, stored_file: 1, queued_event: 1 });
    await calls.expectNothingLeft(row, call!);
    expect(await service.callsOf(owner)).toHaveLength(4);
    expect(await batch()).toMatchObject({ accepted: 5, by_status: { queued: 4 }, erased: 1 });
    for (const { anonymized_text } of others) {
      const tables = (await calls.tracesOf({ anonymized_text })).map((trace) => trace.split(':')[0]);
      expect(tables).toEqual(expect.arrayContaining(['ingest.call', 'bus.job_common']));
    }
  });

  it.each(['queued', 'transcribing', 'analyzing', 'completed', 'failed'])(
    'leaves no trace when it is %s',
    async (status) => {
      const { anonymized_text: said, ...row } = secrets();
      const call = await calls.newRecording(row);
      if (status === 'transcribing') {
        const progress = { attempt: 1, heard: 10, duration: 60 };
        await projectProgress(service.deps, [eventOf(TranscriptionProgressed, call, progress)]);
      }
      if (status !== 'queued' && status !== 'transcribing') await transcribed(call, said);
      if (status === 'failed') await failed(call);
      if (status === 'completed') await analyzed(call, 1, said);
      expect((await service.deps.calls.get(call.owner.firmUuid, call.uuid)).status).toBe(status);
      const { removed } = await calls.erase(call);
      expect(counts(removed)).toMatchObject({ call: 1, recording: 1 });
      await calls.expectNothingLeft({ ...row, said }, call);
    },
  );

  it('loses all its analyses, and every transcript that was too long for an event', async () => {
    const row = secrets();
    const long = { ...row, anonymized_text: row.anonymized_text + ' so it goes'.repeat(30_000) };
    const call = await calls.newCall(long);
    await analyzed(call, 1, row.operator_name);
    await analyzeCall(service.deps, call.owner.firmUuid, call.uuid);
    await analyzed(call, 2, row.operator_name);
    const { removed } = await calls.erase(call);
    expect(counts(removed)).toMatchObject({ analysis: 2, stored_file: 3, queued_event: 2 });
    await calls.expectNothingLeft(row, call);
  });

  it('loses the event bodies that were too large for a broker', async () => {
    const row = secrets();
    const call = await calls.newCall(row);
    const others = await calls.newCall(secrets());
    const bodyOf = ({ owner, uuid }: Call) => `facts/${owner.firmUuid}/${uuid}/${randomUUID()}`;
    const { objects } = service.deps;
    for (const one of [call, call, others]) await objects.put(bodyOf(one), Readable.from([row.anonymized_text]));
    const { removed } = await calls.erase(call);
    expect(counts(removed)).toMatchObject({ stored_file: 3 });
    const left: string[] = [];
    for await (const { key } of objects.list(`facts/${others.owner.firmUuid}/`)) left.push(key);
    expect(left).toHaveLength(1);
  });

  it('is removed from lists and from the index of words, indexed or waiting', async () => {
    const owner = service.newOwner();
    const [row, waiting] = [secrets(), secrets()];
    const [call] = await calls.upload(owner, [row]);
    // The analysis sets the language, and then the words are indexed.
    await analyzed(call!);
    await waitUntil(async () => {
      await service.deps.words.catchUp(owner.firmUuid, 60_000);
      return (await calls.tracesOf(row)).some((trace) => trace.startsWith('ingest.call_text'));
    });
    await calls.erase(call!);
    await calls.expectNothingLeft(row, call!);
    const [late] = await calls.upload(owner, [waiting]);
    await calls.erase(late!);
    expect(await service.deps.words.catchUp(owner.firmUuid, 60_000)).toBe(true);
    await calls.expectNothingLeft(waiting, late!);
    expect(await service.db.query('SELECT FROM listed_call WHERE firm_uuid = $1', [owner.firmUuid])).toEqual([]);
  });

  it('cannot be erased by another firm', async () => {
    const call = await calls.newCall();
    const otherFirm = { owner: service.newOwner(), uuid: call.uuid };
    expect(await faultOf(calls.erase(otherFirm))).toMatchObject({ code: 'NOT_FOUND' });
    expect(await calls.exists(call)).toBe(true);
  });

  it('is erased once: concurrent requests get one receipt, later ones NOT_FOUND', async () => {
    const owner = service.newOwner();
    const row = secrets();
    await service.upload(owner, csvOf([{ ...row, duration: 'long' }]), 'skip');
    const call = await calls.newCall(row, owner);
    const [first, ...others] = await Promise.all([calls.erase(call), calls.erase(call), calls.erase(call)]);
    expect(counts(first!.removed)).toMatchObject({ call: 1, refused_row: 1 });
    expect(others).toEqual([first, first]);
    await calls.expectNothingLeft(row, call);
    expect(await faultOf(calls.erase(call))).toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each(['find', 'identify'] as const)(
    'has one receipt when another process erases it before this one can %s it',
    async (step) => {
      const call = await calls.newCall();
      const { deps } = service;
      let erased: Erasure | undefined;
      const erasures = {
        ...deps.erasures,
        [step]: async (...which: Parameters<typeof deps.erasures.find>) => {
          erased ??= await calls.erase(call);
          return deps.erasures[step](...which);
        },
      };
      const receipt = await calls.erase(call, { erasures });
      expect(receipt).toEqual(erased);
      expect(receipt.finishedAt).not.toBeNull();
    },
  );

  it('is erased while many others are, more than there are connections', async () => {
    const owner = service.newOwner();
    const all = await calls.upload(owner, Array.from({ length: 40 }, secrets));
    await Promise.all(all.map((call) => calls.erase(call)));
    expect(await service.callsOf(owner)).toEqual([]);
  });

  it('frees its partner_call_id', async () => {
    const row = secrets();
    const call = await calls.newCall(row);
    await calls.erase(call);
    const again = await calls.newCall(row, call.owner);
    expect(again.uuid).not.toBe(call.uuid);
    expect(await calls.exists(again)).toBe(true);
  });

  it('is not restored by late events and requests', async () => {
    const { anonymized_text: said, ...row } = secrets();
    const call = await calls.newRecording(row);
    await calls.erase(call);
    await transcribed(call, said);
    await analyzed(call, 1, said);
    await failed(call);
    const progress = { attempt: 1, heard: 10, duration: 60 };
    await projectProgress(service.deps, [eventOf(TranscriptionProgressed, call, progress)]);
    const { firmUuid } = call.owner;
    const late = { firmUuid, callUuid: call.uuid, attempt: 1, recording: recordingOf() };
    expect(await faultOf(recordAudio(service.deps, late))).toMatchObject({ code: 'NOT_FOUND' });
    const again = {
      callUuid: call.uuid,
      fileName: goodAudio.audio_file_name,
      metadata: JSON.stringify({ ...goodAudio, ...row }),
      found: { recording: recordingOf() },
      campaignUuid: null,
    };
    expect(await faultOf(registerCall(service.deps, call.owner, again))).toMatchObject({ code: 'NOT_FOUND' });
    const byKey = {
      attempt: 1,
      source: 'audio' as const,
      duration: 60,
      language: null,
      tags: [],
      segment_type: 'support',
    };
    await projectTranscripts(service.deps, [
      eventOf(TranscriptReady, call, { ...byKey, transcript: { key: 'transcripts/gone' } }),
    ]);
    await calls.expectNothingLeft({ ...row, said }, call);
  });

  it('is counted separately from the calls of its campaign, and its score no longer counts', async () => {
    const owner = service.newOwner();
    const campaign = await createCampaign(
      service.deps,
      { ...owner, address: '' },
      {
        name: 'Calls',
        external_id: null,
        description: null,
        segment_type: null,
        starts_at: null,
        ends_at: null,
      },
    );
    await changeCampaignState(service.deps, { ...owner, address: '' }, campaign.uuid, 'start');
    const [first, second] = [
      await calls.newRecording(secrets(), owner, campaign.uuid),
      await calls.newRecording(secrets(), owner, campaign.uuid),
    ];
    await analyzed(first);
    await calls.erase(first);
    const now = () => service.deps.campaigns.get(owner.firmUuid, campaign.uuid);
    expect(await now()).toMatchObject({
      calls: { total: 1, by_status: { queued: 1 }, erased: 1 },
      average_score: null,
    });
    await service.deps.campaigns.foldTally();
    await calls.erase(second);
    expect(await now()).toMatchObject({ calls: { total: 0, by_status: {}, erased: 2 } });
  });

  it('is not announced, even when its range of calls was already read', async () => {
    const owner = service.newOwner();
    const [gone, kept] = [secrets(), secrets()];
    const long = (row: CsvRow) => ({ ...row, anonymized_text: row.anonymized_text + ' so it goes'.repeat(30_000) });
    const [call, other] = await calls.upload(owner, [long(gone), long(kept)]);
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
    const objects = objectsBut(service.deps.objects, {
      async put(key, bytes) {
        const done = await service.deps.objects.put(key, bytes);
        // Both transcripts are read and stored, and neither call is announced yet.
        if ((puts += 1) === 2) await calls.erase(call!);
        return done;
      },
    });
    await announceCalls({ ...service.deps, objects }, accepted);
    await calls.expectNothingLeft(gone, call!);
    expect((await calls.tracesOf({ text: kept.anonymized_text })).some((trace) => trace.includes('transcripts'))).toBe(
      true,
    );
  });

  it('is erased even when it is retried at the same time', async () => {
    const row = secrets();
    const call = await calls.newCall(row);
    await failed(call);
    const { firmUuid } = call.owner;
    const [, erased] = await Promise.allSettled([retryCall(service.deps, firmUuid, call.uuid), calls.erase(call)]);
    expect(erased.status).toBe('fulfilled');
    await calls.expectNothingLeft(row, call);
  });
});

describe('the finish time of a batch', () => {
  const ended = (call: Call, at: string) =>
    service.db.query(`UPDATE call SET status = 'completed', updated_at = $2 WHERE uuid = $1`, [call.uuid, at]);

  it('stays the same when the call that ended last is erased, and then all', async () => {
    const all = await calls.upload(service.newOwner(), [{ partner_call_id: 'a' }, { partner_call_id: 'b' }]);
    const progress = await batchOf(all[0]!);
    await ended(all[0]!, '2100-01-01T00:00:00.544Z');
    await ended(all[1]!, '2100-01-01T00:00:00.545Z');
    const { finished_at: finishedAt } = await progress();
    expect(finishedAt).toEqual(new Date('2100-01-01T00:00:00.545Z'));
    for (const call of all.toReversed()) {
      await calls.erase(call);
      expect((await progress()).finished_at).toEqual(finishedAt);
    }
  });

  it('is the time of the erasure when the last unfinished call is erased', async () => {
    const all = await calls.upload(service.newOwner(), [{ partner_call_id: 'a' }, { partner_call_id: 'b' }]);
    const progress = await batchOf(all[0]!);
    await ended(all[0]!, new Date().toISOString());
    const { erasedAt } = await calls.erase(all[1]!);
    expect((await progress()).finished_at).toEqual(erasedAt);
  });
});

describe('the archive of a batch', () => {
  it('is kept while another call needs it, and removed with the last one', async () => {
    const owner = service.newOwner();
    const names = ['a.wav', 'b.wav', 'c.wav'];
    await service.uploadBatch(owner, audioCsvOf(names.map((audio_file_name) => ({ audio_file_name }))), zipOf(names));
    const all = (await service.callsOf(owner)).map(({ uuid }) => ({ owner, uuid }));
    const { archives, removed } = { archives: () => service.objectsOf(owner), removed: [] as Record<string, number>[] };
    const batch = await batchOf(all[0]!);
    for (const call of all) {
      expect(await archives()).toHaveLength(1);
      removed.push(counts((await calls.erase(call)).removed));
    }
    expect(await archives()).toEqual([]);
    // The first erasure removes the uploaded files, the last one the archive.
    expect(removed.map((each) => each['stored_file'] ?? 0)).toEqual([2, 0, 1]);
    expect(await batch()).toMatchObject({ accepted: 3, by_status: {}, erased: 3 });
  });

  it('is removed by the sweep once the other recordings are extracted', async () => {
    const owner = service.newOwner();
    const names = ['a.wav', 'b.wav'];
    await service.uploadBatch(owner, audioCsvOf(names.map((audio_file_name) => ({ audio_file_name }))), zipOf(names));
    const [first, second] = (await service.callsOf(owner)).map(({ uuid }) => ({ owner, uuid }));
    await calls.erase(first!);
    const extracted = { firmUuid: owner.firmUuid, callUuid: second!.uuid, attempt: 1, recording: recordingOf() };
    await recordAudio(service.deps, extracted);
    await sweep({ ...service.deps, claimDays: 30 }, new Date());
    expect(await service.objectsOf(owner)).toEqual([]);
  });
});

it('the receipt and the tombstone of a finished erasure are deleted after thirty days', async () => {
  const call = await calls.newCall();
  await calls.erase(call);
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
  await sweep({ ...service.deps, claimDays: 30 }, new Date());
  expect(await kept()).toHaveLength(1);
  await days(2);
  await sweep({ ...service.deps, claimDays: 30 }, new Date());
  expect(await kept()).toHaveLength(0);
});

it('an erasure does not wait for that of a call of the same batch which ended later', async () => {
  const owner = service.newOwner();
  const [first, second] = await calls.upload(owner, [secrets(), secrets()]);
  for (const call of [first!, second!]) await projectAnalyses(service.deps, [callAnalyzed(call)]);
  const { batch } = (await service.callsOf(owner))[0]!;
  await service.db.query(`UPDATE batch SET erased_until = '2100-01-01' WHERE uuid = $1`, [batch]);
  await service.db.transaction(async (tx) => {
    await tx.query('SELECT 1 FROM batch WHERE uuid = $1 FOR UPDATE', [batch]);
    expect((await calls.erase(first!)).callUuid).toBe(first!.uuid);
  });
});
