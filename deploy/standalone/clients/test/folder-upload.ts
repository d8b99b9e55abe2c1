import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { link, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { bareEnvironment, freePort, wavHeader } from '@call-analysis/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newFirm, type Client as User } from '../../test/client/new-firm.ts';
import { eventually, retryUntilSuccess } from '../../test/client/retry.ts';
import { metadataOf, recordingsCsvOf } from '../../test/client/valid-uploads.ts';
import { everyCall } from '../../test/kills.ts';
import { type ServiceProcess, startService } from '../../test/system/service-process.ts';

const cli = fileURLToPath(new URL('../../../../packages/cli/main.ts', import.meta.url));

/** A tenth of a second of silence. */
function recording(): Buffer {
  const samples = Buffer.alloc(4 * 800);
  return Buffer.concat([wavHeader({ channels: 2, dataBytes: samples.length }), samples]);
}

/** The guarantee, with a folder of this many recordings. */
export function describeFolderUpload(recordings: number): void {
  let service: ServiceProcess;
  let user: User;
  let folder: string | undefined;
  let port: number;
  const current = {
    get url() {
      return service.url;
    },
    get administration() {
      return service.administration;
    },
  };

  beforeAll(async () => {
    port = await freePort();
    service = await startService(undefined, { PORT: String(port) });
    user = await newFirm(current, { role: 'ADMIN' });
    folder = await mkdtemp(join(tmpdir(), 'folder-upload-'));
    const names = Array.from({ length: recordings }, (_, at) => `call-${at}.wav`);
    const [first = ''] = names;
    await writeFile(join(folder, first), recording());
    // The same bytes under many names, so that ten thousand recordings are quickly there.
    for (const name of names.slice(1)) await link(join(folder, first), join(folder, name));
    const rows = names.map((name) => metadataOf(name, { partner_call_id: `id of ${name}` }));
    await writeFile(join(folder, 'metadata.csv'), recordingsCsvOf(rows));
  });
  afterAll(async () => {
    await service?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  function startUpload(): ChildProcess {
    const env = {
      ...bareEnvironment(),
      CALL_ANALYSIS_URL: `http://127.0.0.1:${port}`,
      CALL_ANALYSIS_TOKEN: user.token,
    };
    return spawn(process.execPath, [cli, 'upload', folder!, '--json'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  /** Resolves when the firm has this many calls. */
  async function untilThere(calls: number, upload: ChildProcess): Promise<void> {
    await eventually(async () => {
      if (upload.exitCode !== null) throw new Error(`The upload ended early with ${upload.exitCode}.`);
      const { count } = await retryUntilSuccess(() => user.call<{ count: number }>('GET', '/api/v1/calls?size=1'));
      return count >= calls;
    }, 100);
  }

  async function kill(process: ChildProcess): Promise<void> {
    const ended = once(process, 'exit');
    process.kill('SIGKILL');
    await ended;
  }

  it(`${recordings} recordings of a folder are there once after two kills of the client and one of the service`, async () => {
    const first = startUpload();
    await untilThere(recordings * 0.2, first);
    await kill(first);
    const second = startUpload();
    await untilThere(recordings * 0.4, second);
    await kill(second);
    const third = startUpload();
    const [printed, said] = [text(third.stdout!), text(third.stderr!)];
    await untilThere(recordings * 0.6, third);
    await kill(service.child);
    service = await startService(service.directory, { PORT: String(port) });
    if (third.exitCode === null) await once(third, 'exit');
    // The same command continues while the service does not respond; it need not be started again.
    expect({ code: third.exitCode, said: await said }).toEqual({ code: 0, said: '' });
    const result = JSON.parse(await printed) as { sent: number; known: number; call_uuids: string[] };
    expect(result.sent + result.known).toBe(recordings);
    expect(new Set(result.call_uuids).size).toBe(recordings);
    const calls = await everyCall<{ partner_call_id: string; uuid: string }>(user, recordings);
    expect([...calls.values()].map(({ uuid }) => uuid).toSorted()).toEqual(result.call_uuids.toSorted());
  });
}
