import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { analysis, audio, ingest, keyManagement } from '@call-analysis/proto';
import { createLog } from '@call-analysis/runtime';
import { credentials, type GrpcObject, loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { describe, expect, it } from '@jest/globals';
import { serve } from '../index.ts';
import type { Implementation } from '../server/answer.ts';
import { serveTrial } from './trial.ts';

const log = createLog({ name: 'reflection', level: 'silent' });
const root = join(dirname(createRequire(import.meta.url).resolve('@grpc/reflection')), '..');

interface Reply {
  list_services_response?: { service: { name: string }[] };
  file_descriptor_response?: { file_descriptor_proto: Buffer[] };
}

async function ask(address: string, version: 'v1' | 'v1alpha', request: object): Promise<Reply> {
  const definition = loadSync(join(root, `proto/grpc/reflection/${version}/reflection.proto`), { keepCase: true });
  const { grpc } = loadPackageDefinition(definition) as { grpc: { reflection: Record<string, GrpcObject> } };
  const client = new (grpc.reflection[version]!.ServerReflection as ServiceClientConstructor)(
    address,
    credentials.createInsecure(),
  );
  const stream = client.ServerReflectionInfo!();
  stream.write(request);
  const [reply] = (await once(stream, 'data')) as [Reply];
  // Closing the client cancels what it has under way.
  stream.on('error', () => {});
  stream.end();
  client.close();
  return reply;
}

describe('reflection', () => {
  it.each(['v1', 'v1alpha'] as const)('lists our services and shows their messages, %s', async (version) => {
    const services = [analysis, audio, ingest, keyManagement].map((service): Implementation => ({
      service,
      handlers: Object.fromEntries(
        Object.keys(service).map((name) => [`${name.slice(0, 1).toLowerCase()}${name.slice(1)}`, async () => ({})]),
      ),
    }));
    const server = await serve({ address: '127.0.0.1:0', services, log, reflection: true });
    const listed = await ask(server.address, version, { list_services: '*' });
    expect(listed.list_services_response?.service.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'call_analysis.analysis.v1.Analysis',
        'call_analysis.audio.v1.Audio',
        'call_analysis.ingest.v1.Ingest',
        'call_analysis.key_management.v1.KeyManagement',
      ]),
    );
    const shown = await ask(server.address, version, { file_containing_symbol: 'call_analysis.audio.v1.Audio' });
    expect(
      Buffer.concat(shown.file_descriptor_response?.file_descriptor_proto ?? []).includes('UploadRecordingRequest'),
    ).toBe(true);
    await server.stop(0);
  });

  it('is not there unless asked for', async () => {
    const { server } = await serveTrial({}, { address: '127.0.0.1:0' });
    await expect(ask(server.address, 'v1', { list_services: '*' })).rejects.toMatchObject({ code: 12 });
    await server.stop(0);
  });
});
