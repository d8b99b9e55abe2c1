import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@call-analysis/testing';
import { kafkaForTests, s3ForTests } from '@call-analysis/testing/servers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newAuthority } from '../../packages/rpc/test/certificates.ts';
import { dialAdministration } from '../standalone/admin/administration.ts';
import { readRemote } from '../standalone/config.ts';
import { silence } from '../standalone/test/client/silence.ts';
import { RetryingClient } from './test/retrying-client.ts';
import { type DistributedSystem, type ServiceName, SERVICES, startSystem } from './test/system.ts';

const authority = newAuthority('services');

let directory: string;
let system: DistributedSystem;

/** Writes the certificate of a process and returns the variables that name its files. */
async function filesFor(name: string, ...names: string[]): Promise<Record<string, string>> {
  const entries = Object.entries(authority.issue([name, ...names])).map(async ([part, pem]) => {
    const file = join(directory, `${name}.${part}.pem`);
    await writeFile(file, pem as string);
    return [`RPC_TLS_${part.toUpperCase()}_FILE`, file] as const;
  });
  return { ...Object.fromEntries(await Promise.all(entries)), RPC_TLS_NAMES: '{service}.test' };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mutual-tls-'));
  // The admin command connects to key-management by its IP address.
  const certified = await Promise.all(
    SERVICES.map(async (name) => [name, await filesFor(`${name}.test`, '127.0.0.1')] as const),
  );
  const variables = Object.fromEntries(certified) as Record<ServiceName, Record<string, string>>;
  variables.transcription['SPEECH_COMMAND'] = JSON.stringify(['/bin/echo', 'Good morning, how can I help you?']);
  const adminUrl = process.env['TEST_DATABASE_URL'];
  if (adminUrl === undefined) throw new Error('TEST_DATABASE_URL is not set; npm run test:distributed sets it.');
  system = await startSystem({ servers: { adminUrl, kafka: kafkaForTests(), store: s3ForTests() }, variables });
}, 300_000);

afterAll(async () => {
  await system?.stop();
  await rm(directory, { recursive: true, force: true });
}, 120_000);

describe('all processes over mutual TLS', () => {
  it('accept and complete a batch and a recording', async () => {
    const { address, tls, jwt } = readRemote({ ...system.administration, ...(await filesFor('admin.test')) })!;
    const admin = dialAdministration(address, { jwt, tls }, undefined);
    const firm = (await admin.createFirm({ name: 'Test', country: 'UZ', segmentTypes: ['support'] })).uuid;
    const user = await admin.createUser({ firm, name: 'Test', role: 'ADMIN' });
    const client = new RetryingClient(await admin.issueToken(user.uuid, 3_600_000), () => system.url);
    admin.close();
    const batch = await client.batch(3);
    await client.recording(new Uint8Array(silence(1)));
    await waitUntil(async () => (await client.readBatch(batch)).body.finished_at !== null, { timeoutMs: 60_000 });
    const completed = () => client.ask<{ count: number }>('list', 'GET', '/api/v1/calls?status=completed');
    await waitUntil(async () => (await completed()).body.count === 4, { timeoutMs: 60_000 });
  });

  it('refuse the certificate of the gateway where only the admin command may call', async () => {
    const { address, tls, jwt } = readRemote({ ...system.administration, ...(await filesFor('gateway.test')) })!;
    const gateway = dialAdministration(address, { jwt, tls }, undefined);
    await expect(gateway.createFirm({ name: 'Test', country: 'UZ', segmentTypes: [] })).rejects.toMatchObject({
      message: expect.stringContaining('the certificate is of gateway, and only admin may call it'),
    });
    // The gateway may call it, but not with an administrator's rights, which a request without an actor has.
    const user = { firm: '00000000-0000-4000-8000-000000000000', name: 'Test', role: 'SUPERUSER' };
    await expect(gateway.createUser(user)).rejects.toMatchObject({
      message: expect.stringContaining('the certificate is of gateway, and only admin may send it'),
    });
    gateway.close();
  });

  it('refuse a client without a certificate', async () => {
    const { address, jwt } = readRemote(system.administration)!;
    const clientWithoutCertificate = dialAdministration(address, { jwt }, undefined);
    await expect(
      clientWithoutCertificate.createFirm({ name: 'Test', country: 'UZ', segmentTypes: [] }),
    ).rejects.toMatchObject({
      kind: 'unavailable',
    });
    clientWithoutCertificate.close();
  });
});
