import { once } from 'node:events';
import { connect } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import { dial, requireAdmin, type Tls } from '../index.ts';
import { newAuthority } from './certificates.ts';
import { logInto, newAddress, serveTrial, trial } from './trial.ts';

const DAY_MS = 86_400_000;
const AFTER_THE_TEST_MS = 3_600_000;
const yesterday = new Date(Date.now() - DAY_MS);
const ours = newAuthority('ours');
const theirs = newAuthority('theirs');
// Of a server, and of a service that the tables name.
const own = ours.issue(['localhost', 'gateway']);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function serveWith(tls: Tls | undefined) {
  const { server, lines } = await serveTrial({}, { address: 'localhost:0', tls });
  closing.push(() => server.stop(0));
  return { address: server.address, lines };
}

function call(address: string, tls: Tls | undefined) {
  const lines: Record<string, unknown>[] = [];
  const client = dial(trial, address, { name: 'Ingest', deadlineMs: AFTER_THE_TEST_MS, tls, log: logInto(lines) });
  closing.push(() => client.close());
  return { client, lines };
}

describe('over mutual TLS', () => {
  it('a caller with a certificate of the same authority is answered', async () => {
    const { address } = await serveWith(own);
    const { client, lines } = call(address, ours.issue(['gateway']));
    expect(await client.echo({ what: 'a' })).toMatchObject({ what: 'a' });
    await client.ready();
    expect(lines).toEqual([]);
  });

  it.each([
    ['of another authority', { ...theirs.issue(['gateway']), ca: ours.ca }],
    ['that has expired', ours.issue(['gateway'], new Date(Date.now() - 2 * DAY_MS), yesterday)],
    ['that is not valid yet', ours.issue(['gateway'], new Date(Date.now() + DAY_MS))],
  ])('a caller with a certificate %s is refused, with one line in each log', async (_what, tls) => {
    const served = await serveWith(own);
    const { client, lines } = call(served.address, tls);
    for (let asked = 0; asked < 2; asked += 1) {
      await expect(client.echo({})).rejects.toMatchObject({
        kind: 'unavailable',
        code: 'UNAVAILABLE',
        message: 'Ingest does not answer: it may not accept our certificate.',
      });
    }
    expect(lines).toMatchObject([{ level: 'error', part: 'Ingest', msg: expect.stringContaining('our certificate') }]);
    expect(served.lines).toMatchObject([{ level: 'warn', msg: 'callers without a valid certificate were refused' }]);
  });

  it('a caller without a certificate is refused', async () => {
    const { address, lines } = await serveWith(own);
    await expect(call(address, undefined).client.echo({})).rejects.toMatchObject({ kind: 'unavailable' });
    const port = Number(address.split(':').at(-1));
    const socket = connect({ host: 'localhost', port, ca: ours.ca, ALPNProtocols: ['h2'] });
    closing.push(() => socket.destroy());
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.message).toContain('certificate required');
    expect(lines.filter(({ msg }) => msg === 'rpc')).toEqual([]);
  });

  it('versions older than 1.2 are refused', async () => {
    const { address } = await serveWith(own);
    const port = Number(address.split(':').at(-1));
    const old = connect({
      host: 'localhost',
      port,
      ...own,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    closing.push(() => old.destroy());
    const [error] = (await once(old, 'error')) as [NodeJS.ErrnoException];
    expect(error.message).toMatch(/protocol version/);
  });

  it.each([
    ['is of another authority', theirs.issue(['localhost']), 'its certificate is not trusted'],
    ['has expired', ours.issue(['localhost'], new Date(0), yesterday), 'its certificate is not valid today'],
    ['is for another name', ours.issue(['elsewhere']), 'its certificate is for another name'],
    ['is none', undefined, 'it does not speak TLS as we do'],
  ])(
    'a server is refused when its certificate %s, with the reason, without delay and with one line in the log',
    async (_what, tls, words) => {
      const { address } = await serveWith(tls);
      const { client, lines } = call(address, own);
      for (let asked = 0; asked < 2; asked += 1) {
        await expect(client.echo({})).rejects.toMatchObject({ message: `Ingest does not answer: ${words}.` });
      }
      expect(lines).toMatchObject([{ level: 'error', msg: `Ingest does not answer: ${words}.` }]);
    },
  );

  it('a server in the same process is called like any other', async () => {
    const { server } = await serveTrial({}, { address: newAddress(), tls: own });
    closing.push(() => server.stop(0));
    await expect(call(server.address, undefined).client.echo({})).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await call(server.address, own).client.echo({ what: 'a' })).toMatchObject({ what: 'a' });
  });
});

describe('a method over mutual TLS', () => {
  const names = '{service}.calls';
  const named = (...services: string[]) => ours.issue(services.map((each) => `${each}.calls`));

  async function serveNamed() {
    const handled: string[] = [];
    const { server, lines } = await serveTrial(
      {
        async echo({ what, count, data }) {
          handled.push(what);
          return { what, count, data };
        },
      },
      { address: 'localhost:0', tls: { ...own, names } },
    );
    closing.push(() => server.stop(0));
    return { address: server.address, handled, lines };
  }

  it('is open to each service that its table names', async () => {
    const { address } = await serveNamed();
    expect(await call(address, named('gateway')).client.echo({ what: 'a' })).toMatchObject({ what: 'a' });
    expect(await call(address, named('gateway')).client.read({ what: 'b' })).toMatchObject({ what: 'b' });
    expect(await call(address, named('ingest')).client.read({ what: 'c' })).toMatchObject({ what: 'c' });
    // One certificate of several services is taken for each of them.
    expect(await call(address, named('audio', 'ingest')).client.read({ what: 'd' })).toMatchObject({ what: 'd' });
  });

  it('is refused to another service with PERMISSION_DENIED before its handler runs, with any kind of method', async () => {
    const { address, handled, lines } = await serveNamed();
    const { client } = call(address, named('ingest'));
    const sentence = (method: string) =>
      `Ingest does not answer: ${method} is refused: the certificate is of ingest, and only gateway may call it.`;
    // A firm's user must not see it as a verdict on what the user may do, so it is not `forbidden`.
    await expect(client.echo({ what: 'a' })).rejects.toMatchObject({ kind: 'unavailable', message: sentence('Echo') });
    await expect(client.download({ count: 1 })[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      message: sentence('Download'),
    });
    async function* requests() {
      yield { what: 'a' };
    }
    await expect(client.upload(requests())).rejects.toMatchObject({ message: sentence('Upload') });
    expect(handled).toEqual([]);
    expect(lines).toMatchObject(
      ['Echo', 'Download', 'Upload'].map((method) => ({
        level: 'warn',
        method: `/call_analysis.trial.v1.Trial/${method}`,
        code: 'PERMISSION_DENIED',
      })),
    );
    // Everyone with a certificate may ask whether the service is ready.
    await client.ready();
  });

  it('refuses requests of an administrator from every service, and takes them from the admin command', async () => {
    const { server } = await serveTrial(
      {
        async read({ what, count, data }, call) {
          if (what === '') requireAdmin(call, 'A request without an actor');
          return { what, count, data };
        },
      },
      { address: 'localhost:0', tls: { ...own, names } },
    );
    closing.push(() => server.stop(0));
    const { client } = call(server.address, named('ingest'));
    expect(await client.read({ what: 'a' })).toMatchObject({ what: 'a' });
    await expect(client.read({ what: '' })).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('A request without an actor is refused: the certificate is of ingest'),
    });
    const admin = call(server.address, named('ingest', 'admin')).client;
    expect(await admin.read({ what: '' })).toMatchObject({ what: '' });
  });

  it('is refused with UNAUTHENTICATED to a certificate that names no service, only in part or as an address', async () => {
    const { address, handled, lines } = await serveNamed();
    for (const name of ['gateway', 'gateway.calls.example', 'x.gateway.calls', '127.0.0.1', 'nobody.calls']) {
      await expect(call(address, ours.issue([name])).client.echo({ what: 'a' })).rejects.toMatchObject({
        kind: 'unavailable',
        message:
          'Ingest does not answer: Echo is refused: the certificate has the name of no service, such as gateway.calls.',
      });
    }
    expect(handled).toEqual([]);
    expect(new Set(lines.map(({ code }) => code))).toEqual(new Set(['UNAUTHENTICATED']));
  });
});
