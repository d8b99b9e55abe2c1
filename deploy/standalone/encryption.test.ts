import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseUrl } from '@call-analysis/postgres';
import { findServer } from '@call-analysis/postgres/server';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as Postgres } from 'pg';
import { type Client, newFirm } from './test/client/new-firm.ts';
import { silence } from './test/client/silence.ts';
import { csvOf, metadataOf } from './test/client/valid-uploads.ts';
import { everyCall } from './test/kills.ts';
import { admin } from './test/system/command.ts';
import { startServiceHere } from './test/system/service-here.ts';
import type { RunningService } from './test/system/service-process.ts';

const WORD = 'parcel';
const recording = new Uint8Array(silence(1));
const line = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;

interface Detail {
  readonly transcript: { utterances: { text: string }[] };
  readonly audio: { url: string };
  readonly analyses: unknown[];
}

describe('a service with a key file', () => {
  let folder: string;
  let file: string;
  let service: RunningService;
  let client: Client;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keys-'));
    file = join(folder, 'keys');
  });
  afterAll(async () => {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function upload(id: string): Promise<void> {
    const key = await client.upload(csvOf([{ partner_call_id: id }]));
    await client.call('POST', '/api/v1/calls/process-upload', { metadata_key: key });
    const sent = await client.uploadRecording(
      new Blob([recording]),
      `${id}.wav`,
      metadataOf(`${id}.wav`, { partner_call_id: `${id}-audio` }),
    );
    expect(sent.status).toBe(200);
  }

  async function expectReadable(ids: readonly string[]): Promise<void> {
    const all = ids.length * 2;
    await waitUntil(
      async () => (await client.call<{ count: number }>('GET', '/api/v1/calls?status=completed&size=1')).count === all,
    );
    const calls = await everyCall<{ uuid: string; partner_call_id: string }>(client, all);
    for (const id of ids) {
      const read = await client.call<Detail>('GET', `/api/v1/calls/${calls.get(id)!.uuid}`);
      expect(read.transcript.utterances.map(({ text }) => text).join(' ')).toContain(WORD);
      expect(read.analyses).toHaveLength(1);
      const { audio } = await client.call<Detail>('GET', `/api/v1/calls/${calls.get(`${id}-audio`)!.uuid}`);
      const part = await fetch(new URL(audio.url, service.url), { headers: { range: 'bytes=8-11' } });
      expect([part.status, await part.text()]).toEqual([206, 'WAVE']);
    }
    await waitUntil(
      async () => (await client.call<{ count: number }>('GET', `/api/v1/calls?q=${WORD}&size=1`)).count === ids.length,
    );
  }

  async function restart(variables: Record<string, string>): Promise<void> {
    const { directory } = service;
    await service.stop({ keep: true });
    service = await startServiceHere(directory, variables);
    client = await newFirm(service, { firm: client.firmUuid });
  }

  it('encrypts new data, reads old data, and continues with another key', async () => {
    service = await startServiceHere();
    client = await newFirm(service);
    await upload('before');
    await expectReadable(['before']);

    await writeFile(file, line('one'));
    await restart({ ENCRYPTION_KEY_FILE: file });
    await upload('after');
    await expectReadable(['before', 'after']);
    const calls = await everyCall<{ uuid: string; partner_call_id: string }>(client, 4);
    const { uuid } = calls.get('after')!;
    await client.call('POST', `/api/v1/calls/${uuid}/comments`, { text: `about the ${WORD}` });
    const comments = await client.call<{ items: { text: string }[] }>('GET', `/api/v1/calls/${uuid}/comments`);
    expect(comments.items.map(({ text }) => text)).toEqual([`about the ${WORD}`]);

    const rows = await stored(uuid);
    expect(rows.tagged_text.startsWith('\u0001enc:')).toBe(true);
    expect(rows.tagged_text).not.toContain(WORD);
    expect(rows.comment.startsWith('\u0001enc:')).toBe(true);
    expect(rows.body[0]).toBe(0xff);
    const heads = await Promise.all(
      (await recordings()).map(async (path) => (await readFile(path)).toString('latin1', 0, 4)),
    );
    // The one from before, and the new one.
    expect(heads.filter((head) => head === 'RIFF')).toHaveLength(1);
    expect(heads).toHaveLength(2);

    await writeFile(file, `${line('two')}\n${await readFile(file, 'utf8')}`);
    const variables = { ...service.administration, ENCRYPTION_KEY_FILE: file };
    expect(await admin(variables, 'encryption', 'status')).toMatchObject({
      current: 'two',
      data_keys: [{ key: 'one' }],
    });
    expect(await admin(variables, 'encryption', 'rotate')).toEqual({ current: 'two', rotated: 1 });
    await writeFile(file, (await readFile(file, 'utf8')).split('\n')[0]!);
    await restart({ ENCRYPTION_KEY_FILE: file });
    await upload('last');
    await expectReadable(['before', 'after', 'last']);
  });

  it('does not start without the key, and explains what to do', async () => {
    const { directory } = service;
    await service.stop({ keep: true });
    await expect(startServiceHere(directory)).rejects.toThrow(/no key is set. Set ENCRYPTION_KEY_FILE/);
    await expect(startServiceHere(directory, { ENCRYPTION_KEY_FILE: `${file}-away` })).rejects.toThrow(
      /cannot be read/,
    );
  });

  async function stored(uuid: string): Promise<{ tagged_text: string; body: Buffer; comment: string }> {
    const url = (await findServer(join(service.directory, 'postgres')))!;
    const postgres = new Postgres({ connectionString: databaseUrl(url, 'call_analysis') });
    await postgres.connect();
    try {
      const { rows } = await postgres.query(
        `SELECT tagged_text, body, comment.text AS comment FROM ingest.call
           JOIN ingest.analysis ON analysis.call_uuid = call.uuid JOIN ingest.comment ON comment.call_uuid = call.uuid
         WHERE call.uuid = $1`,
        [uuid],
      );
      return rows[0] as { tagged_text: string; body: Buffer; comment: string };
    } finally {
      await postgres.end();
    }
  }

  async function recordings(): Promise<string[]> {
    const found = await readdir(join(service.directory, 'objects'), { recursive: true, withFileTypes: true });
    return found
      .filter((each) => each.isFile() && each.parentPath.includes('recordings') && each.name.endsWith('.wav'))
      .map((each) => join(each.parentPath, each.name));
  }
});
