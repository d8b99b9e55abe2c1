import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Database } from '@call-analysis/postgres';
import { writeZip } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient } from '../client.ts';
import { type Batch, type Client, newFirm } from '../test/client.ts';
import { csvOf, metadataOf } from '../test/good-calls.ts';
import { eventually, patientFetch } from '../test/insist.ts';
import { silence } from '../test/silence.ts';
import { startSystemUnderTest, type SystemUnderTest } from '../test/system-under-test.ts';

const speech = await readFile(new URL('../../../services/transcription/fixtures/two-voices.wav', import.meta.url));

let service: SystemUnderTest;
let client: Client;
let tables: Database;

beforeAll(async () => {
  service = await startSystemUnderTest();
  client = await newFirm(service);
  tables = service.tables('ingest');
});

afterAll(() => service?.stop());

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

/** Values of one call; the word stands in all of them but the number. */
function secrets() {
  // An e between digits would make a number of it for PostgreSQL, which takes what follows for another word.
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

/** Takes transcripts in and returns their batch. */
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

/** What remains of a call besides that it was erased, wherever anything is kept. */
async function tracesOf(calls: readonly Secrets[], uuids: readonly string[]): Promise<string[]> {
  const words = [...calls.flatMap(({ word, phone }) => [word, phone]), ...uuids];
  const traces = await service.tracesOf(words);
  const lasting = /^(ingest\.(batch|erasure)|\w+\.erased_subject): /;
  return traces.filter((trace) => !(lasting.test(trace) && uuids.some((uuid) => trace.endsWith(uuid))));
}

async function nothingLeft(calls: readonly Secrets[], uuids: readonly string[]): Promise<void> {
  let traces: string[] = [];
  const isClean = async () => (traces = await tracesOf(calls, uuids)).length === 0;
  await eventually(isClean, 100).catch(() => {});
  expect(traces).toEqual([]);
}

/** Length of all recordings that were heard to their end, in seconds. */
async function heardSeconds(): Promise<number> {
  const pages = await Promise.all(service.metricsUrls.map(async (url) => (await fetch(url)).text()));
  const figures = pages.flatMap((page) => [...page.matchAll(/^audio_heard_seconds_total (\S+)$/gm)]);
  return figures.reduce((sum, [, seconds]) => sum + Number(seconds), 0);
}

/** The same sound again and again: to hear it takes minutes, so that it is caught while it is heard. */
function longSpeech(): Buffer {
  const times = 400;
  const data = Buffer.concat(Array.from({ length: times }, () => speech.subarray(44)));
  const header = Buffer.from(speech.subarray(0, 44));
  header.writeUInt32LE(36 + data.length, 4);
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}

describe('erasing a call', () => {
  it('that is completed leaves nothing of it in any store of any service, and its batch still counts it', async () => {
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
    // Its id is free again.
    await sendTranscripts([gone]);
    expect((await find(gone)).uuid).not.toBe(uuid);
  });

  it('that is being heard stops the hearing, and its recording cannot be had any more', async () => {
    const call = secrets();
    const before = await heardSeconds();
    const uuid = await sendRecording(call, longSpeech());
    await eventually(async () => (await statusOf(uuid)) === 'transcribing');
    const { audio } = await client.call<{ audio: { url: string } }>('GET', callPath(uuid));
    expect((await patientFetch(audio.url, { headers: { range: 'bytes=0-9' } })).status).toBe(206);
    expect((await erase(uuid)).status).toBe(200);
    expect((await patientFetch(audio.url)).status).toBe(404);
    await nothingLeft([call], [uuid]);
    const quiet = secrets();
    const next = await sendRecording(quiet, silence(2));
    await eventually(async () => (await statusOf(next)) === 'completed');
    // Only the second one was heard to its end.
    await eventually(async () => (await heardSeconds()) > before);
    expect(await heardSeconds()).toBe(before + 2);
  });

  it('whose recording is still in its archive, whatever stage it has come to, takes the archive along in the end', async () => {
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

  it('is for its own firm alone', async () => {
    const call = secrets();
    await sendTranscripts([call]);
    const { uuid } = await find(call);
    const stranger = await newFirm(service);
    expect(await erase(uuid, stranger)).toMatchObject({ status: 404 });
    expect(await erase('not-a-uuid')).toMatchObject({ status: 404 });
    expect((await client.request('GET', callPath(uuid))).status).toBe(200);
  });

  it('finishes by itself when the service is killed in the middle of it', async () => {
    const calls = Array.from({ length: 40 }, secrets);
    await sendTranscripts(calls);
    const uuids = await Promise.all(calls.map(async (call) => (await find(call)).uuid));
    // Whoever asks again as long as nobody answers would ask until after the revival.
    const hasty = apiClient(service, client.token);
    const asked = Promise.allSettled(uuids.map((uuid) => erase(uuid, hasty)));
    const begun = async () =>
      (await tables.query<{ uuid: string }>('SELECT call_uuid AS uuid FROM ingest.erasure')).map(({ uuid }) => uuid);
    await eventually(async () => (await begun()).filter((uuid) => uuids.includes(uuid)).length > 5, 2);
    await Promise.all([service.kill('ingest'), asked]);
    await service.revive();
    await service.settled();
    // Those that had not begun are whole, and can be erased now.
    const missing: string[] = [];
    for (const uuid of uuids) if ((await client.request('GET', callPath(uuid))).status !== 200) missing.push(uuid);
    expect(await begun()).toEqual(expect.arrayContaining(missing));
    await Promise.all(uuids.map((uuid) => erase(uuid)));
    // What a process had in hand that died beside others is taken up when its lease lapses.
    await nothingLeft(calls, uuids);
    const unfinished = async () => tables.query('SELECT 1 FROM ingest.erasure WHERE finished_at IS NULL');
    await eventually(async () => (await unfinished()).length === 0);
  });
});

it('a call is analyzed once more on request, and keeps both analyses', async () => {
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
  const unheard = await sendRecording(lost, longSpeech());
  expect(await client.request('POST', `${callPath(unheard)}/analyze`)).toMatchObject({
    status: 409,
    body: { code: 'INVALID_TRANSITION', details: { allowed: [] } },
  });
  await erase(unheard);
});
