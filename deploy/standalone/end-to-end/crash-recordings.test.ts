import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil, writeZip } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Batch, type Client, newFirm } from '../test/client/new-firm.ts';
import { retryUntilSuccess, retryUntilAnswered } from '../test/client/retry.ts';
import { silence } from '../test/client/silence.ts';
import { metadataOf, recordingsCsvOf } from '../test/client/valid-uploads.ts';
import { everyCall, killAtRandom } from '../test/kills.ts';
import { long } from '../test/long-run.ts';
import { isDistributed, startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';

const many = long && !isDistributed;
const KILLS = many ? 14 : isDistributed ? 9 : 6;
const SINGLE_UPLOADS = many ? 30 : 12;
const BATCHES = many ? 6 : 3;
const RECORDINGS_A_BATCH = 8;
/** Of the single uploads every so many brings speech, which takes an engine; the others bring silence, which takes none. */
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

/** Processes that these have started, such as those that hear recordings; PostgreSQL is one too, but started to survive. */
function childrenOf(pids: readonly number[]): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const [, program, parent] = /\((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'latin1')) ?? [];
        return pids.includes(Number(parent)) && program !== 'postgres';
      } catch {
        return false;
      }
    })
    .map(Number);
}

describe('a service that is killed while recordings come in, are taken out of archives and are heard', () => {
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

  /** Begins to send a recording and goes away in the middle of it. */
  async function goAway(): Promise<void> {
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
      if (number % 4 === 0) await goAway();
      await pause(randomInt(0, 300));
    }
  }

  /** Of each batch the last recording is broken: its bytes are not what the archive's directory says. */
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
    // What it revives last is stopped, too.
    await killer.catch(() => {});
    await service.stop();
  });

  it('brings every accepted recording to its end once, loses none and keeps none that has no call', async () => {
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
      // A worker that was killed again and again over one call may have used up its tries; then the call says so.
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
