import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { openObjects } from '@call-analysis/objects';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openDataDirectory } from '../../data-directory.ts';
import { type Client, newFirm } from '../../test/client/new-firm.ts';
import { eventually } from '../../test/client/retry.ts';
import { silence } from '../../test/client/silence.ts';
import { metadataOf } from '../../test/client/valid-uploads.ts';
import { admin, runAdminHere } from '../../test/system/command.ts';
import { startServiceHere } from '../../test/system/service-here.ts';
import type { RunningService } from '../../test/system/service-process.ts';

const speech = await readFile(new URL('../../../../services/transcription/fixtures/two-voices.wav', import.meta.url));

interface DeadLetter {
  id: string;
  type: string;
  consumer: string;
  subject: string;
  firm_uuid: string;
  code: string;
  message: string;
  attempts: number;
  at: string;
}

/** Tests of the `dead-letter` commands. `bus` has the variables of the transport of events. */
export function deadLetterSuite(bus: Record<string, string>): void {
  let folder: string;
  let service: RunningService;
  let client: Client;
  let variables: Record<string, string>;

  const command = <Result>(...args: string[]) =>
    admin<Result>({ ...bus, DATA_DIR: service.directory }, 'dead-letter', ...args);
  const outcome = (...args: string[]) =>
    runAdminHere(['dead-letter', ...args], { ...bus, DATA_DIR: service.directory });
  const call = (uuid: string) =>
    client.call<{ status: string; attempt: number; failure: { code: string } | null }>('GET', `/api/v1/calls/${uuid}`);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'call-analysis-dead-'));
    // Transcribes one recording at a time and waits for a file, so that the next recording can be removed meanwhile.
    const engine = join(folder, 'engine.sh');
    await writeFile(
      engine,
      'cd "$(dirname "$0")"\ntouch transcribing\nwhile [ ! -e go-on ]; do sleep 0.05; done\necho "hello there"\n',
    );
    variables = { ...bus, SPEECH_COMMAND: JSON.stringify(['sh', engine, '{file}']), SPEECH_CONCURRENCY: '1' };
    service = await startServiceHere(undefined, variables);
    client = await newFirm(service);
  });
  afterAll(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function upload(recording: Buffer): Promise<string> {
    const { status, body } = await client.uploadRecording<{ audio_id: string }>(
      new Blob([new Uint8Array(recording)]),
      'a.wav',
      metadataOf('a.wav'),
    );
    expect(status).toBe(200);
    return body.audio_id;
  }

  /** A call whose recording was missing when it was to be transcribed. `restore` puts the recording back. */
  async function failedCall(): Promise<{ uuid: string; restore(): Promise<void> }> {
    const [transcribing, goOn] = [join(folder, 'transcribing'), join(folder, 'go-on')];
    for (const file of [transcribing, goOn]) await rm(file, { force: true });
    await upload(speech);
    await eventually(() => access(transcribing).then(() => true));
    const uuid = await upload(silence(2));
    const { objects, secrets } = openDataDirectory(service.directory);
    const store = await openObjects({ store: 'disk', directory: objects, secret: secrets.urlSecret });
    const key = `recordings/${client.firmUuid}/${uuid}.wav`;
    const bytes = await buffer(await store.open(key));
    await store.remove(key);
    await writeFile(goOn, '');
    await eventually(async () => (await call(uuid)).status === 'failed');
    await eventually(async () => (await command<DeadLetter[]>('list')).some(({ subject }) => subject === uuid));
    return {
      uuid,
      async restore() {
        await store.put(key, Readable.from([bytes]));
      },
    };
  }

  describe('the dead-letter commands', () => {
    it('list dead letters without bodies, and a replay completes a failed call after its cause is fixed', async () => {
      const { uuid, restore } = await failedCall();
      const [deadLetter, ...others] = await command<DeadLetter[]>(
        'list',
        '--consumer',
        'transcription',
        '--firm',
        client.firmUuid,
      );
      expect(others).toEqual([]);
      expect(deadLetter).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        type: 'audio.stored.v1',
        consumer: 'transcription',
        subject: uuid,
        firm_uuid: client.firmUuid,
        code: 'RECORDING_MISSING',
        message: expect.any(String),
        attempts: 1,
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      });
      expect(await command('list', '--type', 'call.analyzed.v1')).toEqual([]);
      await restore();
      expect(await command('replay', '--id', deadLetter!.id)).toEqual({ replayed: 1, retried: 1 });
      await eventually(async () => (await call(uuid)).status === 'completed');
      expect((await call(uuid)).failure).toBeNull();
      expect(await command('list')).toEqual([]);
    });

    it('replay dead letters while the service does not run, and it processes them when it starts', async () => {
      const { uuid, restore } = await failedCall();
      await restore();
      await service.stop({ keep: true });
      expect(await command<DeadLetter[]>('list', '--code', 'RECORDING_MISSING')).toHaveLength(1);
      expect(await command('replay', '--consumer', 'transcription', '--code', 'OTHER')).toEqual({
        replayed: 0,
        retried: 0,
      });
      expect(await command('replay', '--consumer', 'transcription')).toEqual({ replayed: 1, retried: 1 });
      expect(await command('list')).toEqual([]);
      service = await startServiceHere(service.directory, variables);
      client = await newFirm(service, { firm: client.firmUuid });
      await eventually(async () => (await call(uuid)).status === 'completed');
    });

    it('report an unknown id and missing options in a sentence', async () => {
      const unknownId = '00000000-0000-4000-8000-000000000000';
      const absent = await outcome('replay', '--id', unknownId);
      expect(absent).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^There is no dead letter/) });
      const unnamed = await outcome('replay');
      expect(unnamed).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('either --id or --consumer'),
      });
      const half = await runAdminHere(['dead-letter', 'list'], {
        DATA_DIR: service.directory,
        KAFKA_TLS: 'on',
      });
      expect(half).toMatchObject({
        code: 1,
        stdout: '',
        stderr: 'KAFKA_TLS is set, so KAFKA_BROKERS must be set too.\n',
      });
      const help = await outcome('replay', '--help');
      expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('next attempt') });
    });
  });
}
