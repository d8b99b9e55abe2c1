import { deflateRawSync } from 'node:zlib';
import {
  AnalysisWaiting,
  type BodyOf,
  CallAnalyzed,
  type Event,
  publishedAnalysis,
  receivedAnalysis,
  TranscriptionWaiting,
  TranscriptReady,
} from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { beforeAll, expect, it } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { readCall } from '../calls/read-call.ts';
import { registerCall } from '../intake/register-call.ts';
import { projectAnalyses, projectFailures, projectWaiting, projectTranscripts } from '../results/project-results.ts';
import { csvOf, goodAudio } from '../test/csv.ts';
import { analysis, type Call, callAnalyzed, callFailed, eventOf, transcriptReady } from '../test/events.ts';
import { faultOf, recordingOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { analyzeCall } from './analyze-call.ts';
import { retryCall } from './retry-call.ts';

const service = new IngestUnderTest();
let ready: Event<BodyOf<typeof TranscriptReady>>[];

beforeAll(async () => {
  ready = await service.collect(TranscriptReady);
});

async function uploaded(): Promise<Call> {
  const owner = service.newOwner();
  await service.upload(owner, csvOf([{}]));
  return { owner, uuid: (await service.callsOf(owner))[0]!.uuid };
}

async function recorded(): Promise<Call> {
  const owner = service.newOwner();
  const { call_uuid: callUuid } = await registerCall(service.deps, owner, {
    callUuid: uuidv7(),
    fileName: goodAudio.audio_file_name,
    metadata: JSON.stringify(goodAudio),
    found: { recording: recordingOf() },
    campaignUuid: null,
  });
  return { owner, uuid: callUuid };
}

async function analyzed(call: Call, attempt: number, score: number, time = new Date().toISOString()): Promise<void> {
  const event = callAnalyzed(call, { attempt, analysis: { ...analysis, score, created_at: time } });
  await projectAnalyses(service.deps, [{ ...event, time }]);
}

async function failed(call: Call, stage: 'extraction' | 'transcription' | 'analysis', attempt = 1): Promise<void> {
  await projectFailures(service.deps, [callFailed(call, { attempt, stage })]);
}

const analyze = ({ owner, uuid }: Call) => analyzeCall(service.deps, owner.firmUuid, uuid);
const read = ({ owner, uuid }: Call) => readCall(service.deps, owner.firmUuid, uuid, null);
const announced = ({ uuid }: Call, attempt: number) =>
  waitUntil(() => ready.find(({ subject, data }) => subject === uuid && data.attempt === attempt));

it('a completed call gets a second analysis, keeps the first, and its history shows both', async () => {
  const call = await uploaded();
  await analyzed(call, 1, 40);
  expect(await analyze(call)).toMatchObject({ status: 'analyzing', attempt: 2, outcome: null, failure: null });
  expect((await announced(call, 2)).data).toMatchObject({
    source: 'transcription',
    operator_name: expect.any(String),
    direction: null,
    start_time: expect.stringMatching(/Z$/),
    transcript: { utterances: [{}, {}] },
  });
  await analyzed(call, 2, 60);
  const row = await read(call);
  const { analyses, history } = row;
  expect(row).toMatchObject({ status: 'completed', outcome: 'scored', score: 60 });
  expect(analyses.map(({ score }) => score)).toEqual([60, 40]);
  expect(history.map(({ status, detail }) => [status, detail])).toEqual([
    ['queued', null],
    ['completed', null],
    ['analyzing', 'new analysis requested'],
    ['completed', null],
  ]);
});

it.each([-3_600_000, 3_600_000])(
  'the newest analysis is that of the newest attempt, even by a clock that is %i ms off',
  async (offMs) => {
    const call = await uploaded();
    const time = new Date(Date.now() + offMs).toISOString();
    const times = offMs > 0 ? [time, undefined] : [undefined, time];
    await analyzed(call, 1, 40, times[0]);
    await analyze(call);
    await analyzed(call, 2, 60, times[1]);
    const row = await read(call);
    const { analyses } = row;
    expect(row).toMatchObject({ status: 'completed', score: 60 });
    expect(analyses.map(({ score }) => score)).toEqual([60, 40]);
  },
);

it.each([-3_600_000, 3_600_000])(
  'a call ends between its creation and now, even by a clock that is %i ms off',
  async (offMs) => {
    const time = new Date(Date.now() + offMs).toISOString();
    const [scored, failing] = [await uploaded(), await uploaded()];
    await analyzed(scored, 1, 40, time);
    await projectFailures(service.deps, [{ ...callFailed(failing), time }]);
    for (const { owner, uuid } of [scored, failing]) {
      const { created_at, updated_at } = await service.deps.calls.get(owner.firmUuid, uuid);
      expect(updated_at.getTime()).toBeGreaterThanOrEqual(created_at.getTime());
      expect(updated_at.getTime()).toBeLessThanOrEqual(Date.now());
    }
  },
);

it('a transcribed recording is analyzed again from its stored transcript', async () => {
  const call = await recorded();
  await projectTranscripts(service.deps, [transcriptReady(call)]);
  await analyzed(call, 1, 40);
  await analyze(call);
  expect((await announced(call, 2)).data).toMatchObject({
    source: 'audio',
    operator_name: 'Aziza',
    start_time: '2026-01-02T03:04:05.000Z',
    transcript: { utterances: [{ role: 'client', text: 'Hi', start: 0, end: 1 }] },
  });
});

it('a call that failed at its analysis can be analyzed again, and retried when that fails', async () => {
  const call = await uploaded();
  await failed(call, 'analysis');
  await analyze(call);
  await failed(call, 'analysis', 2);
  await retryCall(service.deps, call.owner.firmUuid, call.uuid);
  await analyzed(call, 3, 50);
  expect(await read(call)).toMatchObject({ status: 'completed', score: 50 });
});

it('a late result of an earlier attempt does not complete the new analysis', async () => {
  const call = await uploaded();
  await analyzed(call, 1, 40);
  await analyze(call);
  await analyzed(call, 1, 41);
  await failed(call, 'analysis', 1);
  expect(await read(call)).toMatchObject({ status: 'analyzing' });
  expect((await read(call)).analyses).toHaveLength(1);
});

it('concurrent requests start one analysis', async () => {
  const call = await uploaded();
  await analyzed(call, 1, 40);
  const answers = await Promise.allSettled(Array.from({ length: 5 }, () => analyze(call)));
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect((await service.deps.calls.get(call.owner.firmUuid, call.uuid)).attempt).toBe(2);
});

it('a call that is being processed, has no transcript or was canceled is refused, with the possible actions', async () => {
  const refusal = async (call: Call) => {
    const { kind, code, details } = await faultOf(analyze(call));
    return { kind, code, ...details };
  };
  const no = { kind: 'conflict', code: 'INVALID_TRANSITION' };
  const call = await uploaded();
  expect(await refusal(call)).toEqual({ ...no, allowed: [] });
  const untranscribed = await recorded();
  await failed(untranscribed, 'transcription');
  expect(await refusal(untranscribed)).toEqual({ ...no, allowed: ['retry'] });
  const early = await recorded();
  await analyzed(early, 1, 50);
  expect(await refusal(early)).toEqual({ ...no, allowed: [] });
  await service.db.query(`UPDATE call SET status = 'canceled' WHERE uuid = $1`, [call.uuid]);
  expect(await refusal(call)).toEqual({ ...no, allowed: [] });
});

it("another firm's call is not found", async () => {
  const call = await uploaded();
  await analyzed(call, 1, 40);
  expect(await faultOf(analyze({ ...call, owner: service.newOwner() }))).toMatchObject({ code: 'NOT_FOUND' });
});

it('the notes of an analysis are in the history of the call', async () => {
  const call = await uploaded();
  await projectAnalyses(service.deps, [callAnalyzed(call, { note: 'The channels seem to be swapped.' })]);
  expect((await read(call)).history?.at(-1)).toMatchObject({
    status: 'completed',
    detail: 'The channels seem to be swapped.',
  });
});

it('an analysis that was published before its newer fields existed is read with what they were then', async () => {
  const call = await uploaded();
  const event = callAnalyzed(call);
  const {
    analyst,
    auto_fail_suspected: _1,
    reason: _2,
    resolution: _3,
    usage: _4,
    ...older
  } = {
    ...event.data.analysis!,
    sentiment: { operator: 0, client: 0.25 },
  };
  const { sentiment_unknown: _5, ...published } = { ...older, analyst: { name: analyst.name, version: '2' } };
  const data = CallAnalyzed.body.parse({ ...event.data, analysis: published });
  await projectAnalyses(service.deps, [{ ...event, data }]);
  expect((await read(call)).analyses).toEqual([
    expect.objectContaining({
      uuid: event.data.analysis_uuid,
      analyst: { name: 'rules', version: '2', model: null },
      auto_fail_suspected: false,
      reason: null,
      resolution: null,
      usage: null,
      sentiment: {
        operator: 0,
        client: 0.25,
        start: { operator: null, client: null },
        end: { operator: 0, client: 0.25 },
      },
      score_source: 'machine',
      review: null,
    }),
  ]);
});

it('a sentiment that is unknown is published as 0 and read as null', async () => {
  const call = await uploaded();
  await projectAnalyses(service.deps, [
    callAnalyzed(call, { analysis: { ...analysis, sentiment_unknown: ['client'] } }),
  ]);
  expect((await read(call)).analyses[0]?.sentiment).toMatchObject({ operator: 0, client: null });
  const other = await uploaded();
  const undecided = publishedAnalysis({ ...receivedAnalysis(analysis), sentiment: null });
  expect(undecided.sentiment).toEqual({ operator: 0, client: 0 });
  await projectAnalyses(service.deps, [callAnalyzed(other, { analysis: undecided })]);
  expect((await read(other)).analyses[0]?.sentiment).toBeNull();
});

it('a sentiment that was stored for the end of a call alone is read as that of the end, and as unknown for the start', async () => {
  const sentimentAs = async (stored: object) => {
    const call = await uploaded();
    await analyzed(call, 1, 40);
    const body = { ...receivedAnalysis(analysis), sentiment: stored };
    await service.db.query('UPDATE analysis SET body = $2 WHERE call_uuid = $1', [
      call.uuid,
      deflateRawSync(JSON.stringify(body)),
    ]);
    return (await read(call)).analyses[0]?.sentiment;
  };
  const earlier = { operator: 0.5, client: null };
  const unknown = { operator: null, client: null };
  expect(await sentimentAs(earlier)).toEqual({ ...earlier, start: unknown, end: earlier });
  expect(await sentimentAs(unknown)).toBeNull();
});

it('a call whose analysis waits is analyzing, and its history has the reason, until it is completed', async () => {
  const call = await uploaded();
  const reason = 'The language model does not answer.';
  const waiting = eventOf(AnalysisWaiting, call, { attempt: 1, reason });
  await projectWaiting(service.deps, 'analysis', [waiting]);
  await projectWaiting(service.deps, 'analysis', [waiting]);
  expect(await read(call)).toMatchObject({
    status: 'analyzing',
    history: [{ status: 'queued' }, { status: 'analyzing', detail: reason }],
  });
  await analyzed(call, 1, 40);
  await projectWaiting(service.deps, 'analysis', [eventOf(AnalysisWaiting, call, { attempt: 1, reason })]);
  expect((await read(call)).status).toBe('completed');
});

it('a call whose transcription waits is transcribing, and its history has the reason, until it has its transcript', async () => {
  const call = await recorded();
  const reason = 'The call waits for the speech engine.';
  const waiting = eventOf(TranscriptionWaiting, call, { attempt: 1, reason });
  await projectWaiting(service.deps, 'transcription', [waiting]);
  await projectWaiting(service.deps, 'transcription', [waiting]);
  const shown = await read(call);
  const { history } = shown;
  expect(shown.status).toBe('transcribing');
  expect(history.filter(({ detail }) => detail === reason)).toMatchObject([{ status: 'transcribing' }]);
  await projectTranscripts(service.deps, [transcriptReady(call)]);
  await projectWaiting(service.deps, 'transcription', [eventOf(TranscriptionWaiting, call, { attempt: 1, reason })]);
  expect((await read(call)).status).toBe('analyzing');
});

it('a call whose new analysis fails is completed with its earlier one, and its history says so', async () => {
  const call = await uploaded();
  await analyzed(call, 1, 40);
  await analyzeCall(service.deps, call.owner.firmUuid, call.uuid);
  await projectFailures(service.deps, [callFailed(call, { attempt: 2, stage: 'analysis', code: 'ANALYST_REFUSED' })]);
  const shown = await read(call);
  expect(shown).toMatchObject({ status: 'completed', outcome: 'scored', score: 40, failure: null });
  expect(shown.history.at(-1)).toMatchObject({
    status: 'completed',
    detail: expect.stringContaining('ANALYST_REFUSED'),
  });
  // A later analysis replaces it as ever.
  await analyzeCall(service.deps, call.owner.firmUuid, call.uuid);
  await analyzed(call, 3, 60);
  expect(await read(call)).toMatchObject({ status: 'completed', score: 60 });
});
