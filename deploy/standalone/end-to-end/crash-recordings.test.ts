import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { long, waitUntil, writeZip } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Batch, type Client, newFirm } from '../test/client/new-firm.ts';
import { retryUntilSuccess, retryUntilAnswered } from '../test/client/retry.ts';
import { silence } from '../test/client/silence.ts';
import { metadataOf, recordingsCsvOf } from '../test/client/valid-uploads.ts';
import { everyCall, killAtRandom } from '../test/kills.ts';
import { childrenOf } from '../test/system/children.ts';
import { isDistributed, startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';

/** Every third one kills a transcription worker instead of the service. */
const KILLS = isDistributed ? 9 : long ? 14 : 3;
const SINGLE_UPLOADS = isDistributed ? 12 : long ? 30 : 6;
const BATCHES = isDistributed ? 3 : long ? 6 : 1;
const RECORDINGS_A_BATCH = 8;
/** Every fifth single upload has speech, which needs an engine; the others are silent, which needs none. */
const SPEAKS_EVERY = 5;
const SILENT_SECONDS = 3;

const speech = await readFile(new URL('../../../services/transcription/fixtures/two-voices.wav', import.meta.url));

interface CallItem {
  readonly uuid: string;
  readonly partner_call_id: string;
  readonly status: string;
  readonly outcome: string | null;
  readonly failure: { code: string; stage: string } | null;
}

describe('a service that is killed while recordings are uploaded, extracted and transcribed', () => {
  let service: SystemUnderTest;
  let client: Client;
  const over = new AbortController();
  let killer: Promise<void> = Promise.resolve();

  async function killAndRestart(): Promise<void> {
    await service.kill();
    await service.revive();
  }

  function killAWorker(): void {
    const [victim] = childrenOf(service.pids);
    if (victim !== undefined) process.kill(victim, 'SIGKILL');
  }

  /** Starts an upload of a recording and closes the connection in the middle of it. */
  async function abortUpload(): Promise<void> {
    const sending = request(`${service.url}/api/v1/audio/upload`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${client.token}`,
        'content-type': 'multipart/form-data; boundary=b',
        'content-length': 90_000,
      },
    });
    sending.on('error', () => {});
    sending.write('--b\r\nContent-Disposition: form-data; name="audio_file"; filename="left.wav"\r\n\r\n');
    sending.write(speech.subarray(0, 40_000));
    await pause(20);
    sending.destroy();
  }

  async function uploadSingles(): Promise<void> {
    for (let number = 0; number < SINGLE_UPLOADS; number++) {
      const speaks = number % SPEAKS_EVERY === 0;
      const file = `${speaks ? 'talk' : 'quiet'}-${number}.wav`;
      const recording = new Blob([speaks ? new Uint8Array(speech) : new Uint8Array(silence(SILENT_SECONDS))]);
      const metadata = metadataOf(file, { partner_call_id: `single-${number}` });
      const answer = await retryUntilAnswered(() =>
        client.uploadRecording<{ audio_id: string }>(recording, file, metadata),
      );
      expect(answer).toMatchObject({ status: 200, body: { audio_id: expect.any(String) } });
      if (number % 4 === 0) await abortUpload();
      await pause(randomInt(0, 300));
    }
  }

  /** The last recording of each batch is corrupt: its bytes do not match the checksum in the archive. */
  async function uploadBatches(): Promise<void> {
    for (let batch = 0; batch < BATCHES; batch++) {
      const names = Array.from({ length: RECORDINGS_A_BATCH }, (_, index) => `batch-${batch}-${index}.wav`);
      const zip = writeZip(
        names.map((name, index) => {
          const data = index === 0 ? speech : silence(SILENT_SECONDS);
          return {
            name,
            data,
            method: 8,
            ...(index === RECORDINGS_A_BATCH - 1 && { local: { crc32: 1 }, central: { crc32: 1 } }),
          };
        }),
      );
      const csv = recordingsCsvOf(names.map((name) => metadataOf(name, { partner_call_id: name })));
      const keys = await retryUntilSuccess(() => client.uploadBatch(csv, new Blob([new Uint8Array(zip.bytes)])));
      const answer = await retryUntilAnswered(() =>
        client.request<{ data: Batch }>('POST', '/api/v1/calls/process-upload', keys),
      );
      expect(answer.body.data).toMatchObject({ accepted: RECORDINGS_A_BATCH, duplicates: 0 });
      await pause(randomInt(0, 1000));
    }
  }

  beforeAll(async () => {
    service = await startSystemUnderTest();
    client = await newFirm(service);
  });

  afterAll(async () => {
    over.abort();
    // The last kill may still be restarting the service.
    await killer.catch(() => {});
    await service.stop();
  });

  it('finishes every accepted recording once, loses none, and keeps none without a call', async () => {
    killer = killAtRandom({ rounds: KILLS, pauseMs: [100, 1500], over: over.signal }, async (round) => {
      if (round % 3 === 0) killAWorker();
      else await killAndRestart();
    });
    await Promise.all([uploadSingles(), uploadBatches()]);
    await killer;

    const accepted = SINGLE_UPLOADS + BATCHES * RECORDINGS_A_BATCH;
    const ended = async () =>
      (await client.call<{ count: number }>('GET', '/api/v1/calls?status=completed&status=failed&size=1')).count ===
      accepted;
    await waitUntil(ended, { timeoutMs: 400_000, everyMs: 500 });

    const seen = await everyCall<CallItem>(client, accepted);
    for (const [id, call] of seen) {
      const broken = id.endsWith(`-${RECORDINGS_A_BATCH - 1}.wav`);
      if (broken)
        expect(call).toMatchObject({ status: 'failed', failure: { stage: 'extraction', code: 'ENTRY_CORRUPT' } });
      // When workers were killed repeatedly while they transcribed one call, its retries may be exhausted.
      else if (call.status === 'failed')
        expect(call.failure).toMatchObject({ stage: 'transcription', code: 'ENGINE_CRASHED' });
      else
        expect(call.outcome).toBe(
          /^single-(\d+)$/.test(id) ? outcomeOf(id) : id.endsWith('-0.wav') ? 'scored' : 'no_speech',
        );
    }

    const calls = new Set([...seen.values()].map(({ uuid }) => uuid));
    const objects = await service.objects();
    const marked = new Set<string>();
    for await (const { key } of objects.list('uploading/')) marked.add(uuidIn(key));
    const recordings = new Set<string>();
    for await (const { key } of objects.list('recordings/')) recordings.add(uuidIn(key));
    expect([...recordings].filter((uuid) => !calls.has(uuid) && !marked.has(uuid))).toEqual([]);
    const kept = [...seen.values()].filter((call) => call.failure?.stage !== 'extraction');
    expect(kept.filter(({ uuid }) => !recordings.has(uuid))).toEqual([]);
  }, 900_000);
});

function outcomeOf(id: string): string {
  return Number(id.slice('single-'.length)) % SPEAKS_EVERY === 0 ? 'scored' : 'no_speech';
}

function uuidIn(key: string): string {
  return /([^/]+)\.[a-z0-9]+$/.exec(key)![1]!;
}
