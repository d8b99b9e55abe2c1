import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { RetryingClient } from '../distributed/test/retrying-client.ts';
import { administrator } from './test/client/new-firm.ts';
import { eventually } from './test/client/retry.ts';
import { silence } from './test/client/silence.ts';
import { startService } from './test/system/service-process.ts';

/** Starts a service and an upload whose second half is held back. */
async function halfUploaded(variables: Record<string, string>) {
  const service = await startService(undefined, { LOG_LEVEL: 'warn', ...variables });
  const admin = administrator(service.administration);
  const firm = (await admin.createFirm({ name: 'Test', country: 'UZ', segmentTypes: ['support'] })).uuid;
  const user = await admin.createUser({ firm, name: 'Test', role: 'ADMIN' });
  const client = new RetryingClient(await admin.issueToken(user.uuid, 3_600_000), () => service.url);
  admin.close();
  const goOn = Promise.withResolvers<void>();
  const uploaded = client.uploadSlowly(new Uint8Array(silence(1)), 'slow', goOn.promise);
  // Written when the upload has begun.
  await eventually(async () =>
    (await readdir(join(service.directory, 'objects'))).some((name) => name.startsWith('uploading')),
  );
  return { service, uploaded, goOn: goOn.resolve };
}

describe('a service that is stopped in the middle of an upload', () => {
  it.concurrent('finishes the upload', async () => {
    const { service, uploaded, goOn } = await halfUploaded({ CLOSE_TIMEOUT: '5m' });
    const exitCode = service.stop();
    // It is closing once it accepts no other connection.
    await eventually(() =>
      fetch(service.url).then(
        () => false,
        () => true,
      ),
    );
    goOn();
    expect((await uploaded).outcome).toBe('200');
    expect(await exitCode).toBe(0);
    expect(service.stderr()).not.toContain('cut off');
  });

  it.concurrent('cuts the upload off after CLOSE_TIMEOUT, logs it and exits 0', async () => {
    const { service, uploaded, goOn } = await halfUploaded({ CLOSE_TIMEOUT: '1s' });
    expect(await service.stop()).toBe(0);
    expect((await uploaded).outcome).toBe('no answer');
    const lines = service.stderr().split('\n');
    expect(lines.filter((line) => line.includes('requests that were not done in time are cut off'))).toEqual([
      expect.stringContaining('"requests":1'),
    ]);
    goOn();
  });
});
