import dns from 'node:dns';
import { once } from 'node:events';
import { constants, createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '@call-analysis/fault';
import { openTcpProxy, waitUntil } from '@call-analysis/testing';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { dial, type Server } from '../index.ts';
import { nothing, serveTrial, trial, type TrialHandlers } from './trial.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  jest.restoreAllMocks();
});

async function openTrial(
  handlers: TrialHandlers = {},
  options: { dialled?: (server: Server) => string; deadlineMs?: number } = {},
) {
  const { server } = await serveTrial(handlers, { address: '127.0.0.1:0' });
  const dialled = options.dialled ?? (({ address }) => address.replace('127.0.0.1', 'localhost'));
  const client = dial(trial, dialled(server), { name: 'The trial', deadlineMs: options.deadlineMs ?? 60_000 });
  closing.push(
    () => server.stop(0),
    () => client.close(),
  );
  return { server, client };
}

/** A server that is reached through a TCP proxy. */
async function openProxied(handlers: TrialHandlers = {}) {
  const { server } = await serveTrial(handlers, { address: '127.0.0.1:0' });
  const proxy = await openTcpProxy({ port: Number(server.address.split(':').at(-1)) });
  const client = dial(trial, `127.0.0.1:${proxy.port}`, { name: 'The trial', deadlineMs: 500 });
  closing.push(
    () => server.stop(0),
    () => proxy.close(),
    () => client.close(),
  );
  return { proxy, client };
}

const UNAVAILABLE = {
  kind: 'unavailable',
  code: 'UNAVAILABLE',
  message: 'The trial does not answer. Try again shortly.',
};

async function* chunks(count: number) {
  for (let index = 0; index < count; index += 1) yield { data: Buffer.alloc(100_000) };
}

describe('when the network fails', () => {
  it.each([
    ['is cut', 'cut'],
    ['drops everything', 'blackhole'],
  ] as const)(
    'every call over a link that %s ends within its deadline, and the first call after it is answered',
    async (_how, failure) => {
      const { proxy, client } = await openProxied();
      await client.echo({}, { deadlineMs: 60_000 });
      proxy[failure]();
      let isGivenUp = false;
      const patient = client.echo({}, { deadlineMs: 60_000 }).catch(() => (isGivenUp = true));
      const all = [
        client.echo({}),
        client.read({}),
        client.upload(chunks(30)),
        client.download({})[Symbol.asyncIterator]().next(),
      ];
      await Promise.all(all.map((each) => expect(each).rejects.toMatchObject(UNAVAILABLE)));
      // A silent connection is given up only later.
      if (failure === 'blackhole') expect(isGivenUp).toBe(false);
      proxy.heal();
      await waitUntil(() => client.echo({ what: 'a' }));
      await patient;
    },
  );

  it('a connection that is accepted and never answered is replaced', async () => {
    const { server } = await openTrial();
    // Bytes that arrive while it is asleep are lost, so that the handshake cannot be completed later.
    let isAsleep = true;
    const listener = createServer((near) => {
      near.on('error', () => {});
      closing.push(() => near.destroy());
      if (isAsleep) return void near.resume();
      const far = connect(Number(server.address.split(':').at(-1)), '127.0.0.1');
      far.on('error', () => near.destroy());
      near.on('close', () => far.destroy());
      near.pipe(far).pipe(near);
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const client = dial(trial, `127.0.0.1:${port}`, { name: 'The trial', deadlineMs: 500 });
    closing.push(
      () => void listener.close(),
      () => client.close(),
    );
    await expect(client.echo({})).rejects.toMatchObject(UNAVAILABLE);
    isAsleep = false;
    // grpc-js itself would wait for ever.
    await expect(client.echo({}, { deadlineMs: 3_600_000 })).resolves.toBeDefined();
  });

  it('an answer that is broken off in the middle is not complete', async () => {
    const seen: number[] = [];
    const { proxy, client } = await openProxied({
      async *download() {
        for (let count = 0; count < 5; count += 1) yield { what: '', count, data: nothing };
        proxy.cut();
        yield { what: '', count: 5, data: Buffer.alloc(1_000_000) };
      },
    });
    const read = async () => {
      for await (const { count } of client.download({})) seen.push(count);
    };
    await expect(read()).rejects.toMatchObject(UNAVAILABLE);
    // No message twice: after the first message nothing is requested again.
    expect(seen).toEqual([0, 1, 2, 3, 4].slice(0, seen.length));
  });

  it('an unknown host name fails, and is found once it is known', async () => {
    const { server, client } = await openTrial(
      {},
      { dialled: ({ address }) => address.replace('127.0.0.1', 'unknown.test'), deadlineMs: 500 },
    );
    const lookup = jest.spyOn(dns.promises, 'lookup');
    lookup.mockRejectedValue(new Error('getaddrinfo ENOTFOUND'));
    await expect(client.echo({})).rejects.toMatchObject(UNAVAILABLE);
    lookup.mockResolvedValue([{ address: '127.0.0.1', family: 4 }] as never);
    await waitUntil(() => client.echo({}));
    expect(server.address).toMatch(/^127/);
  });

  it('calls to a service that has been down for a while fail fast', async () => {
    const { client, server } = await openTrial();
    await server.stop(0);
    await Promise.all(Array.from({ length: 600 }, () => expect(client.read({})).rejects.toMatchObject(UNAVAILABLE)));
    // A call waits for a connection for 1.5 s after it was lost, and not at all later. If each waited, these calls would take
    // longer than the test may.
    for (let asked = 0; asked < 200; asked += 1) await expect(client.read({})).rejects.toMatchObject(UNAVAILABLE);
  });

  it('a service that fails most of its calls is not sent them again', async () => {
    let requests = 0;
    const failing = createHttp2Server();
    failing.on('stream', (stream) => {
      requests += 1;
      stream.on('error', () => {});
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    });
    failing.listen(0, '127.0.0.1');
    await once(failing, 'listening');
    const address = `127.0.0.1:${(failing.address() as AddressInfo).port}`;
    const client = dial(trial, address, { name: 'The trial', deadlineMs: 60_000 });
    closing.push(
      () => void failing.close(),
      () => client.close(),
    );
    const fails = () => expect(client.read({})).rejects.toMatchObject(UNAVAILABLE);
    await fails();
    expect(requests).toBe(3);
    await Promise.all(Array.from({ length: 600 }, fails));
    const before = requests;
    await fails();
    expect(requests - before).toBe(1);
  });

  describe('a call that closing servers refuse before any handler sees it', () => {
    /** A server that refuses calls while `refuses` says so, and answers others without reading them. */
    async function openRefusing(refuses: () => boolean) {
      const received: Buffer[] = [];
      const server = createHttp2Server();
      server.on('stream', (stream) => {
        stream.on('error', () => {});
        if (refuses()) {
          stream.close(constants.NGHTTP2_REFUSED_STREAM);
          return;
        }
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.on('data', (bytes: Buffer) => received.push(bytes));
        // A message without fields: not compressed, of no bytes.
        stream.on('end', () => stream.end(Buffer.alloc(5)));
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      const client = dial(trial, address, { name: 'The trial', deadlineMs: 60_000 });
      closing.push(
        () => void server.close(),
        () => client.close(),
      );
      return { client, received: () => Buffer.concat(received) };
    }

    it.each(['echo', 'download', 'upload'] as const)('is made until one takes it: %s', async (method) => {
      let refused = 0;
      const { client, received } = await openRefusing(() => refused < 5 && (refused += 1) > 0);
      const sent = Buffer.alloc(100_000, 'sent once');
      async function* requests() {
        yield { data: sent.subarray(0, 60_000) };
        // The others are sent while servers refuse the call.
        await waitUntil(() => refused >= 3);
        yield { data: sent.subarray(60_000) };
      }
      if (method === 'echo') expect(await client.echo({ what: 'once' })).toMatchObject({ what: '' });
      if (method === 'download') expect(await Array.fromAsync(client.download({}))).toHaveLength(1);
      if (method === 'upload') {
        expect(await client.upload(requests())).toMatchObject({ what: '' });
        // Each piece once, in its order, with a few bytes around it.
        const bytes = received();
        const first = bytes.indexOf(sent.subarray(0, 60_000));
        expect(first).toBeGreaterThan(0);
        expect(bytes.indexOf(sent.subarray(60_000), first + 60_000)).toBeGreaterThan(first);
        expect(bytes.length).toBeLessThan(sent.length + 100);
      }
      expect(refused).toBe(5);
    });

    it('fails with the error of its source, also between two attempts', async () => {
      let refused = 0;
      const { client } = await openRefusing(() => refused < 4 && (refused += 1) > 0);
      async function* requests() {
        yield { data: Buffer.alloc(1) };
        await waitUntil(() => refused >= 4, { everyMs: 1 });
        // In the middle of the pause before the call is made again, on a machine that is not too busy.
        await pause(25);
        throw new Error('the file cannot be read');
      }
      await expect(client.upload(requests())).rejects.toThrow('the file cannot be read');
    });

    it.each(['echo', 'download', 'upload'] as const)('fails at its deadline when none takes it: %s', async (method) => {
      const { client } = await openRefusing(() => true);
      const options = { deadlineMs: 500 };
      const made = {
        echo: () => client.echo({}, options),
        download: () => Array.fromAsync(client.download({}, options)),
        upload: () => client.upload(chunks(3), options),
      };
      await expect(made[method]()).rejects.toMatchObject(UNAVAILABLE);
    });
  });
});

describe('across two hops', () => {
  async function chain(last: TrialHandlers) {
    const c = await openTrial(last);
    const b = await openTrial({
      echo: (request) => c.client.echo(request),
      async *download(request) {
        for await (const answer of c.client.download(request)) yield { ...answer };
      },
    });
    return { b, c };
  }

  it.each([
    ['a few', 1],
    ['200 KB of', 2000],
  ])('a Fault keeps its kind, code, message and %s details', async (_many, count) => {
    const fields = Array.from({ length: count }, (_, row) => ({
      row,
      why: `Строка ${row} не читается: ${'x'.repeat(50)}`,
    }));
    const fault = new Fault('conflict', 'ROWS_AT_FAULT', 'Two ряда are at fault.', {
      details: { fields },
      cause: new Error('SQL'),
    });
    const { b } = await chain({ echo: () => Promise.reject(fault) });
    const seen: unknown = await b.client.echo({}).catch((error: unknown) => error);
    expect(seen).toBeInstanceOf(Fault);
    expect(seen).toMatchObject({
      kind: 'conflict',
      code: 'ROWS_AT_FAULT',
      message: 'Two ряда are at fault.',
      details: { fields },
    });
    expect((seen as Fault).cause).toBeUndefined();
  });

  it('the message of an unexpected error stays in its process', async () => {
    const { b } = await chain({ echo: () => Promise.reject(new Error('relation "call" does not exist')) });
    await expect(b.client.echo({})).rejects.toMatchObject({
      kind: 'internal',
      code: 'INTERNAL',
      message: 'Something went wrong.',
    });
  });

  it('no call outlives the call that it is made for', async () => {
    const remainingMs: number[] = [];
    let stopped = 0;
    const { b } = await chain({
      async echo(_request, { deadline, signal }) {
        remainingMs.push((deadline?.getTime() ?? Number.POSITIVE_INFINITY) - Date.now());
        if (!signal.aborted) await once(signal, 'abort');
        stopped += 1;
        throw signal.reason;
      },
    });
    let deadlineMs = 150;
    const call = () => expect(b.client.echo({}, { deadlineMs })).rejects.toMatchObject({ kind: 'unavailable' });
    await call();
    // Repeated with more time when the deadline passed before the second hop.
    for (; remainingMs.length === 0; deadlineMs *= 2) await call();
    expect(Math.max(...remainingMs)).toBeLessThanOrEqual(deadlineMs);
    await waitUntil(() => stopped === remainingMs.length);
  });

  it('work that goes on after its handler has its own deadline', async () => {
    let later: Promise<unknown> | undefined;
    const { client } = await openTrial();
    const { client: first } = await openTrial({
      async echo(_request, { deadline }) {
        const remainingMs = (deadline?.getTime() ?? Number.POSITIVE_INFINITY) - Date.now();
        later = pause(remainingMs + 50).then(() => client.echo({ what: 'later' }));
        return { what: '', count: 0, data: nothing };
      },
    });
    const isAnswered = (deadlineMs: number) =>
      first.echo({}, { deadlineMs }).then(
        () => true,
        () => false,
      );
    let deadlineMs = 100;
    while (!(await isAnswered(deadlineMs))) deadlineMs *= 2;
    expect(await later).toMatchObject({ what: 'later' });
  });
});
