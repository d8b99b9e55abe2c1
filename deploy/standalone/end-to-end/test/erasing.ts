import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Database } from '@call-analysis/postgres';
import { writeZip } from '@call-analysis/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient } from '../../test/client/api-client.ts';
import { type Batch, type Client, newFirm } from '../../test/client/new-firm.ts';
import { eventually, fetchWhenAvailable } from '../../test/client/retry.ts';
import { silence } from '../../test/client/silence.ts';
import { csvOf, metadataOf } from '../../test/client/valid-uploads.ts';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';

const speech = await readFile(new URL('../../../../services/transcription/fixtures/two-voices.wav', import.meta.url));

let service: SystemUnderTest;
let client: Client;
let tables: Database;

interface Item {
  readonly uuid: string;
  readonly status: string;
  readonly partner_call_id: string;
}

interface Receipt {
  readonly uuid: string;
  readonly erased_at: string;
  readonly removed: readonly { what: string; count: number }[];
}

/** Unique values of one call. All but the phone number contain the word. */
function secrets() {
  // PostgreSQL's text search would parse digits with an `e` between them as a number and split the word there.
  const word = randomBytes(8).toString('hex').replaceAll('e', 'f');
  return {
    word,
    phone: `99${String(Math.random()).slice(2, 14).padEnd(12, '7')}`,
    id: `id-${word}`,
    file: `${word}.wav`,
  };
}

type Secrets = ReturnType<typeof secrets>;

const transcripts = (rows: readonly Secrets[]) =>
  csvOf(
    rows.map(({ word, phone, id }) => ({
      client_phone_number: phone,
      operator_name: `Operator ${word}`,
      anonymized_text: `<operator>Good morning ${word}<client>Where is my ${word}?`,
      partner_call_id: id,
    })),
  );

const metadata = ({ word, phone, id, file }: Secrets) =>
  metadataOf(file, { client_phone_number: phone, operator_name: `Operator ${word}`, partner_call_id: id });

const callPath = (uuid: string) => `/api/v1/calls/${uuid}`;
const erase = (uuid: string, by: Pick<Client, 'request'> = client) => by.request<Receipt>('DELETE', callPath(uuid));

async function find({ id }: Secrets): Promise<Item> {
  const found = () => client.call<{ items: Item[] }>('GET', `/api/v1/calls?partner_call_id=${id}`);
  return eventually(async () => (await found()).items[0]);
}

const statusOf = async (uuid: string) => (await client.call<Item>('GET', callPath(uuid))).status;

/** Uploads transcripts and returns their batch. */
async function sendTranscripts(rows: readonly Secrets[]): Promise<string> {
  const metadata_key = await client.upload(transcripts(rows));
  const { data } = await client.call<{ data: Batch }>('POST', '/api/v1/calls/process-upload', { metadata_key });
  return data.batch_id;
}

async function sendRecording(call: Secrets, recording: Buffer): Promise<string> {
  const blob = new Blob([new Uint8Array(recording)]);
  const { status, body } = await client.uploadRecording<{ audio_id: string }>(blob, call.file, metadata(call));
  expect(status).toBe(200);
  return body.audio_id;
}

/** The remaining data of erased calls in all tables and files, except the records of their erasure. */
async function tracesOf(calls: readonly Secrets[], uuids: readonly string[]): Promise<string[]> {
  const words = [...calls.flatMap(({ word, phone }) => [word, phone]), ...uuids];
  const traces = await service.tracesOf(words);
  const lasting = /^(ingest\.(batch|erasure)|key_management\.audit_entry|\w+\.erased_subject): /;
  return traces.filter((trace) => !(lasting.test(trace) && uuids.some((uuid) => trace.endsWith(uuid))));
}

async function nothingLeft(calls: readonly Secrets[], uuids: readonly string[]): Promise<void> {
  let traces: string[] = [];
  const isClean = async () => (traces = await tracesOf(calls, uuids)).length === 0;
  await eventually(isClean, 500).catch(() => {});
  expect(traces).toEqual([]);
}

/** The total length of all completely transcribed recordings, in seconds. */
async function transcribedSeconds(): Promise<number> {
  const pages = await Promise.all(service.metricsUrls.map(async (url) => (await fetch(url)).text()));
  const figures = pages.flatMap((page) => [
    ...page.matchAll(/^call_analysis_transcribed_audio_seconds_total (\S+)$/gm),
  ]);
  return figures.reduce((sum, [, seconds]) => sum + Number(seconds), 0);
}

/** The same speech repeated. Transcribing it takes minutes, so the test can erase it meanwhile. */
function longSpeech(): Buffer {
  const times = 400;
  const data = Buffer.concat(Array.from({ length: times }, () => speech.subarray(44)));
  const header = Buffer.from(speech.subarray(0, 44));
  header.writeUInt32LE(36 + data.length, 4);
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}

export function describeErasing(system: () => SystemUnderTest): void {
  beforeAll(async () => {
    service = system();
    client = await newFirm(service);
    tables = service.tables('ingest');
  });

  describe('erasing a call', () => {
    it('removes a completed call from every store of every service, and its batch still counts it', async () => {
      const [gone, kept] = [secrets(), secrets()];
      const batch = await sendTranscripts([gone, kept]);
      const { uuid } = await find(gone);
      await eventually(async () => (await statusOf(uuid)) === 'completed');
      expect((await tracesOf([gone], [uuid])).length).toBeGreaterThan(3);
      const { status, body } = await erase(uuid);
      expect(status).toBe(200);
      expect(body).toMatchObject({ uuid, erased_at: expect.any(String) });
      expect(body.removed).toEqual(
        expect.arrayContaining([
          { what: 'call', count: 1 },
          { what: 'analysis', count: 1 },
        ]),
      );
      await nothingLeft([gone], [uuid]);
      for (const [method, path] of [
        ['GET', ''],
        ['DELETE', ''],
        ['POST', '/retry'],
        ['POST', '/analyze'],
      ] as const) {
        expect(await client.request(method, callPath(uuid) + path)).toMatchObject({
          status: 404,
          body: { code: 'NOT_FOUND' },
        });
      }
      await eventually(async () => (await statusOf((await find(kept)).uuid)) === 'completed');
      const answer = await client.call<Batch>('GET', `/api/v1/calls/batches/${batch}`);
      expect(answer).toMatchObject({ accepted: 2, by_status: { completed: 1 }, erased: 1 });
      expect(answer.finished_at).not.toBeNull();
      // Its partner_call_id can be used again.
      await sendTranscripts([gone]);
      expect((await find(gone)).uuid).not.toBe(uuid);
    });

    it('stops the transcription of the call, and its recording cannot be downloaded any more', async () => {
      const call = secrets();
      const uuid = await sendRecording(call, longSpeech());
      await eventually(async () => (await statusOf(uuid)) === 'transcribing');
      // Every earlier recording is transcribed by now.
      const before = await transcribedSeconds();
      const { audio } = await client.call<{ audio: { url: string } }>('GET', callPath(uuid));
      expect((await fetchWhenAvailable(audio.url, { headers: { range: 'bytes=0-9' } })).status).toBe(206);
      expect((await erase(uuid)).status).toBe(200);
      expect((await fetchWhenAvailable(audio.url)).status).toBe(404);
      await nothingLeft([call], [uuid]);
      const quiet = secrets();
      const next = await sendRecording(quiet, silence(2));
      await eventually(async () => (await statusOf(next)) === 'completed');
      // Only the second recording was transcribed completely.
      await eventually(async () => (await transcribedSeconds()) > before);
      expect(await transcribedSeconds()).toBe(before + 2);
    });

    it('also removes the archive with its last call, at any stage of the calls', async () => {
      const calls = Array.from({ length: 6 }, secrets);
      const zip = writeZip(calls.map(({ file }, index) => ({ name: file, data: silence(1 + index / 10), method: 8 })));
      const rows = calls.map(metadata);
      const csv = [Object.keys(rows[0]!), ...rows.map((row) => Object.values(row))]
        .map((row) => `${row.join(',')}\n`)
        .join('');
      const keys = await client.uploadBatch(csv, new Blob([new Uint8Array(zip.bytes)]));
      const { data } = await client.call<{ data: Batch }>('POST', '/api/v1/calls/process-upload', keys);
      const uuids = await Promise.all(calls.map(async (call) => (await find(call)).uuid));
      const answers = await Promise.all(uuids.map((uuid) => erase(uuid)));
      expect(answers.map(({ status }) => status)).toEqual(uuids.map(() => 200));
      await nothingLeft(calls, uuids);
      const batch = await client.call<Batch>('GET', `/api/v1/calls/batches/${data.batch_id}`);
      expect(batch).toMatchObject({ accepted: 6, by_status: {}, erased: 6 });
    });

    it('is possible only within the own firm', async () => {
      const call = secrets();
      await sendTranscripts([call]);
      const { uuid } = await find(call);
      const otherFirm = await newFirm(service);
      expect(await erase(uuid, otherFirm)).toMatchObject({ status: 404 });
      expect(await erase('not-a-uuid')).toMatchObject({ status: 404 });
      expect((await client.request('GET', callPath(uuid))).status).toBe(200);
    });

    it('is finished after a restart when the service is killed in the middle of it', async () => {
      const calls = Array.from({ length: 40 }, secrets);
      await sendTranscripts(calls);
      const uuids = await Promise.all(calls.map(async (call) => (await find(call)).uuid));
      // A client that retries would not return before the restart.
      const clientWithoutRetries = apiClient(service, client.token);
      const sent = Promise.allSettled(uuids.map((uuid) => erase(uuid, clientWithoutRetries)));
      const begun = async () =>
        (await tables.query<{ uuid: string }>('SELECT call_uuid AS uuid FROM ingest.erasure')).map(({ uuid }) => uuid);
      await eventually(async () => (await begun()).filter((uuid) => uuids.includes(uuid)).length > 5, 2);
      await Promise.all([service.kill('ingest'), sent]);
      await service.revive();
      await service.settled();
      // Calls whose erasure had not begun are complete, and can be erased now.
      const missing: string[] = [];
      for (const uuid of uuids) if ((await client.request('GET', callPath(uuid))).status !== 200) missing.push(uuid);
      expect(await begun()).toEqual(expect.arrayContaining(missing));
      // A firm that sends more requests than it may have in progress gets 429 for some of them.
      await Promise.all(uuids.map((uuid) => eventually(async () => [200, 404].includes((await erase(uuid)).status))));
      // Work in progress of the killed process is taken over when its lease expires.
      await nothingLeft(calls, uuids);
      const unfinished = async () => tables.query('SELECT 1 FROM ingest.erasure WHERE finished_at IS NULL');
      await eventually(async () => (await unfinished()).length === 0);
    });
  });

  it('a call can be analyzed again on request, and keeps both analyses', async () => {
    const call = secrets();
    await sendTranscripts([call]);
    const { uuid } = await find(call);
    await eventually(async () => (await statusOf(uuid)) === 'completed');
    expect(await client.request('POST', `${callPath(uuid)}/analyze`)).toMatchObject({
      status: 202,
      body: { uuid, status: 'analyzing', outcome: null },
    });
    await eventually(async () => (await statusOf(uuid)) === 'completed');
    const detail = await client.call<{ analyses: unknown[]; history: { status: string; detail: string | null }[] }>(
      'GET',
      callPath(uuid),
    );
    expect(detail.analyses).toHaveLength(2);
    expect(detail.history.map(({ status }) => status)).toEqual(['queued', 'completed', 'analyzing', 'completed']);
    const lost = secrets();
    const untranscribed = await sendRecording(lost, longSpeech());
    expect(await client.request('POST', `${callPath(untranscribed)}/analyze`)).toMatchObject({
      status: 409,
      body: { code: 'INVALID_TRANSITION', details: { allowed: [] } },
    });
    await erase(untranscribed);
  });
}
