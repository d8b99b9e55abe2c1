import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, newFirm } from '../test/client/new-firm.ts';
import { silence } from '../test/client/silence.ts';
import { csvOf, metadataOf } from '../test/client/valid-uploads.ts';
import { everyCall } from '../test/kills.ts';
import { admin, runAdminHere, startCommand } from '../test/system/command.ts';
import { startServiceHere } from '../test/system/service-here.ts';
import type { RunningService } from '../test/system/service-process.ts';

interface CallItem {
  readonly uuid: string;
  readonly partner_call_id: string;
  readonly status: string;
  readonly score: number | null;
  readonly failure: object | null;
}

const CALLS_A_BATCH = 5;
/** On a busy machine a backup takes long, and what arrives meanwhile must be processed before the end of the test. */
const MOST_ROUNDS = 12;
const recording = new Uint8Array(silence(1));

describe('a backup of a running service', () => {
  let service: RunningService;
  let client: Client;
  let folder: string;
  const accepted: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'backups-'));
    service = await startServiceHere();
    client = await newFirm(service);
  });
  afterAll(async () => {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function uploadBatch(name: string): Promise<void> {
    const ids = Array.from({ length: CALLS_A_BATCH }, (_, number) => `${name}-${number}`);
    const key = await client.upload(csvOf(ids.map((partner_call_id) => ({ partner_call_id }))));
    await client.call('POST', '/api/v1/calls/process-upload', { metadata_key: key });
    accepted.push(...ids);
  }

  async function uploadRecording(name: string): Promise<void> {
    const file = `${name}.wav`;
    const answer = await client.uploadRecording(
      new Blob([recording]),
      file,
      metadataOf(file, { partner_call_id: name }),
    );
    expect(answer.status).toBe(200);
    accepted.push(name);
  }

  it('has every call that was accepted before it, with its recording and score, while others keep arriving', async () => {
    await Promise.all([uploadBatch('first'), uploadRecording('recorded'), uploadRecording('erased')]);
    await waitUntil(async () => (await countEnded(client)) === accepted.length);
    const over = new AbortController();
    const load = (async () => {
      for (let round = 0; round < MOST_ROUNDS && !over.signal.aborted; round++) {
        await Promise.all([uploadBatch(`load-${round}`), uploadRecording(`load-${round}-recorded`)]);
        await pause(500);
      }
    })();
    await waitUntil(() => accepted.some((id) => id.startsWith('load-')));
    const before = [...accepted];
    const known = await everyCall<CallItem>(client, before.length).catch(() => null);
    const target = join(folder, 'loaded');
    const made = await admin<{ calls: number; objects: number }>(service.administration, 'backup', target);
    over.abort();
    await load;
    expect(made.calls).toBeGreaterThanOrEqual(before.length);
    expect(made.objects).toBeGreaterThan(0);
    expect(await admin(service.administration, 'backup', 'verify', target)).toMatchObject({
      valid: true,
      calls: made.calls,
    });

    const dataDirectory = join(folder, 'restored');
    await admin(service.administration, 'restore', target, '--data-dir', dataDirectory);
    const restored = await startServiceHere(dataDirectory);
    try {
      const again = await newFirm(restored, { firm: client.firmUuid });
      await waitUntil(async () => (await countCalls(again)) === (await countEnded(again)), { timeoutMs: 120_000 });
      const calls = await everyCall<CallItem>(again, await countCalls(again));
      expect(before.filter((id) => !calls.has(id))).toEqual([]);
      for (const call of calls.values()) {
        if (call.status === 'failed') expect(call.failure).not.toBeNull();
        else expect(call.status).toBe('completed');
      }
      const now = await everyCall<CallItem>(client, accepted.length);
      for (const [id, { score }] of known ?? new Map<string, CallItem>()) {
        expect([id, calls.get(id)?.score]).toEqual([id, score ?? now.get(id)?.score]);
      }
      for (const id of before.filter((each) => each.endsWith('recorded'))) {
        const detail = await again.call<{ audio: { url: string } }>('GET', `/api/v1/calls/${calls.get(id)!.uuid}`);
        const bytes = await (await fetch(new URL(detail.audio.url, restored.url))).arrayBuffer();
        expect(Buffer.from(bytes).equals(recording)).toBe(true);
      }
    } finally {
      await restored.stop();
    }
  });

  it('is refused into a folder with files, and restored into none that is in use', async () => {
    const target = join(folder, 'taken');
    await admin(service.administration, 'backup', target);
    const again = await runAdminHere(['backup', target], { ...service.administration });
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/not empty/) });
    const over = await runAdminHere(['restore', target, '--data-dir', service.directory], {});
    expect(over).toMatchObject({ code: 1, stderr: expect.stringMatching(/in use/) });
  });

  it('is refused once a byte of it has changed, and then restored nowhere', async () => {
    const [target, dataDirectory] = [join(folder, 'taken'), join(folder, 'never')];
    const file = join(target, 'data/postgres/cluster/global/pg_control');
    await copyFile(file, join(folder, 'intact'));
    const bytes = await readFile(file);
    bytes[100]! ^= 1;
    await writeFile(file, bytes);
    const checked = await runAdminHere(['backup', 'verify', target], {});
    expect(checked).toMatchObject({ code: 1, stderr: expect.stringMatching(/damaged.*pg_control/) });
    const restored = await runAdminHere(['restore', target, '--data-dir', dataDirectory], {});
    expect(restored).toMatchObject({ code: 1, stderr: expect.stringMatching(/damaged/) });
    expect(await readdir(dataDirectory)).toEqual([]);
  });

  it('leaves nothing that is accepted as a backup when it is killed', async () => {
    const target = join(folder, 'killed');
    const { child, outcome } = startCommand('admin/main.ts', ['backup', target], { ...service.administration });
    await waitUntil(async () => (await readdir(join(target, 'data/postgres/cluster')).catch(() => [])).length > 0, {
      everyMs: 5,
    });
    child.kill('SIGKILL');
    await outcome;
    for (const command of [
      ['backup', 'verify', target],
      ['restore', target, '--data-dir', join(folder, 'never')],
    ]) {
      const refused = await runAdminHere(command, {});
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/not a complete backup/) });
    }
    await uploadRecording('after-the-kill');
  });
});

async function countCalls(client: Client, filter = ''): Promise<number> {
  return (await client.call<{ count: number }>('GET', `/api/v1/calls?${filter}size=1`)).count;
}

function countEnded(client: Client): Promise<number> {
  return countCalls(client, 'status=completed&status=failed&');
}
