import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { packBundledModel } from '../../../services/transcription/test/pack-bundled-model.ts';
import { type Client, newFirm } from '../test/client/new-firm.ts';
import { metadataOf } from '../test/client/valid-uploads.ts';
import { admin, run } from '../test/system/command.ts';
import { type ServiceProcess, startService } from '../test/system/service-process.ts';

const fixture = (name: string) => new URL(`../../../services/transcription/fixtures/${name}`, import.meta.url);

interface Call {
  readonly status: string;
  readonly history: readonly { readonly detail: string | null }[];
  readonly failure: { readonly code: string } | null;
  readonly transcript: { readonly engine: string } | null;
}

describe('a speech model that is added while the service runs', () => {
  let service: ServiceProcess;
  let client: Client;
  let scratch: string;

  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'call-analysis-added-model-'));
    service = await startService();
    client = await newFirm(service);
  });
  afterAll(async () => {
    await service.stop();
    await rm(scratch, { recursive: true });
  });

  const ended = async (uuid: string, attempt: number) => {
    let call: Call | undefined;
    await waitUntil(
      async () => {
        call = await client.call<Call>('GET', `/api/v1/calls/${uuid}`);
        const retries = call.history.filter(({ detail }) => detail === 'retried').length;
        return retries === attempt - 1 && ['completed', 'failed'].includes(call.status);
      },
      { timeoutMs: 120_000 },
    );
    return call!;
  };

  it('transcribes the calls that failed for lack of it, by --retry and without a restart, and no more once it is removed', async () => {
    const recording = new Blob([await readFile(fixture('russian.ogg'))]);
    const upload = async () => {
      const metadata = metadataOf('russian.ogg', { partner_call_id: randomUUID() });
      const answer = await client.uploadRecording<{ audio_id: string }>(recording, 'russian.ogg', metadata);
      expect(answer.status).toBe(200);
      return answer.body.audio_id;
    };
    const uuid = await upload();
    expect(await ended(uuid, 1)).toMatchObject({ status: 'failed', failure: { code: 'LANGUAGE_NOT_SUPPORTED' } });

    // The bundled model under another name. The synthetic voice's Russian is taken for Lithuanian, so a model that is said
    // to know that is asked; what it writes is nonsense.
    const archive = join(scratch, 'sherpa-onnx-moonshine-tiny.tar.gz');
    await writeFile(archive, await packBundledModel(scratch, fileURLToPath(fixture('two-voices.wav'))));
    const added = await run(
      'admin/main.ts',
      ['speech-model', 'add', archive, '--name', 'added', '--languages', 'lt', '--retry'],
      service.administration,
    );
    expect(added.code).toBe(0);
    expect(JSON.parse(added.stdout)).toMatchObject({ model: { name: 'added', languages: ['lt'] }, retried: 1 });
    expect(await ended(uuid, 2)).toMatchObject({ transcript: { engine: 'added' } });

    await admin(service.administration, 'speech-model', 'remove', 'added');
    expect(await ended(await upload(), 1)).toMatchObject({ failure: { code: 'LANGUAGE_NOT_SUPPORTED' } });
  });
});
