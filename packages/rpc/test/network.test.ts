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

/** A server behind a gate. */
async function openGated(handlers: TrialHandlers = {}) {
  const { server } = await serveTrial(handlers, { address: '127.0.0.1:0' });
  const gate = await openTcpProxy({ port: Number(server.address.split(':').at(-1)) });
  const client = dial(trial, `127.0.0.1:${gate.port}`, { name: 'The trial', deadlineMs: 500 });
  closing.push(
    () => server.stop(0),
    () => gate.close(),
    () => client.close(),
  );
  return { gate, client };
}

/** What is bounded by half a second takes less, though the machine stand still; a connection is given up after ten. */
const SOON_MS = 8_000;

async function took(work: Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work;
  return performance.now() - began;
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
    ['swallows everything', 'blackhole'],
  ] as const)(
    'every call over a link that %s ends within its deadline, and the first call after it is answered',
    async (_how, deed) => {
      const { gate, client } = await openGated();
      await client.echo({}, { deadlineMs: 60_000 });
      gate[deed]();
      const all = [
        client.echo({}),
        client.read({}),
        client.upload(chunks(30)),
        client.download({})[Symbol.asyncIterator]().next(),
      ];
      expect(await took(Promise.all(all.map((each) => expect(each).rejects.toMatchObject(UNAVAILABLE))))).toBeLessThan(
        SOON_MS,
      );
      gate.heal();
      const back = performance.now();
      while (!(await client.echo({ what: 'a' }).catch(() => undefined))) await pause(10);
      expect(performance.now() - back).toBeLessThan(SOON_MS);
    },
  );

  it('a connection that is taken and never answered is given up for a new one', async () => {
    const { server } = await openTrial();
    // What is sent while it sleeps is lost, as behind a proxy that drops it: waking completes no handshake.
    let isAsleep = true;
    const proxy = createServer((near) => {
      near.on('error', () => {});
      closing.push(() => near.destroy());
      if (isAsleep) return void near.resume();
      const far = connect(Number(server.address.split(':').at(-1)), '127.0.0.1');
      far.on('error', () => near.destroy());
      near.on('close', () => far.destroy());
      near.pipe(far).pipe(near);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    const client = dial(trial, `127.0.0.1:${port}`, { name: 'The trial', deadlineMs: 500 });
    closing.push(
      () => void proxy.close(),
      () => client.close(),
    );
    await expect(client.echo({})).rejects.toMatchObject(UNAVAILABLE);
    isAsleep = false;
    // By itself the connection would be waited for for twenty seconds.
    expect(await took(expect(client.echo({}, { deadlineMs: 60_000 })).resolves.toBeDefined())).toBeLessThan(12_000);
  });

  it('an answer that is broken off in the middle is no whole one', async () => {
    const seen: number[] = [];
    const { gate, client } = await openGated({
      async *download() {
        for (let count = 0; count < 5; count += 1) yield { what: '', count, data: nothing };
        gate.cut();
        yield { what: '', count: 5, data: Buffer.alloc(1_000_000) };
      },
    });
    const read = async () => {
      for await (const { count } of client.download({})) seen.push(count);
    };
    await expect(read()).rejects.toMatchObject(UNAVAILABLE);
    // None twice: what has been read is not asked for again.
    expect(seen).toEqual([0, 1, 2, 3, 4].slice(0, seen.length));
  });

  it('a name that nobody knows is said in time, and found once it is known', async () => {
    const { server, client } = await openTrial(
      {},
      { dialled: ({ address }) => address.replace('127.0.0.1', 'nobody.test'), deadlineMs: 500 },
    );
    const lookup = jest.spyOn(dns.promises, 'lookup');
    lookup.mockRejectedValue(new Error('getaddrinfo ENOTFOUND'));
    expect(await took(expect(client.echo({})).rejects.toMatchObject(UNAVAILABLE))).toBeLessThan(SOON_MS);
    lookup.mockResolvedValue([{ address: '127.0.0.1', family: 4 }] as never);
    const back = performance.now();
    while (!(await client.echo({}).catch(() => undefined))) await pause(10);
    // By itself gRPC asks for a name twice a minute.
    expect(performance.now() - back).toBeLessThan(12_000);
    expect(server.address).toMatch(/^127/);
  });

  it('calls to a service that has been down for a while fail fast', async () => {
    const { client, server } = await openTrial();
    await server.stop(0);
    await Promise.all(Array.from({ length: 600 }, () => expect(client.read({})).rejects.toMatchObject(UNAVAILABLE)));
    // A call waits for a connection for 1.5 s after it was lost, and not at all later.
    const all: number[] = [];
    while (all.length < 5 && !all.some((ms) => ms < 600)) {
      all.push(await took(expect(client.read({})).rejects.toMatchObject(UNAVAILABLE)));
    }
    expect(Math.min(...all)).toBeLessThan(600);
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
  ])('a Fault keeps its kind, code, words and %s details', async (_many, count) => {
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

  it("a bug's own words stay where it is", async () => {
    const { b } = await chain({ echo: () => Promise.reject(new Error('relation "call" does not exist')) });
    await expect(b.client.echo({})).rejects.toMatchObject({
      kind: 'internal',
      code: 'INTERNAL',
      message: 'Something went wrong.',
    });
  });

  it('no call outlives the one it is made for', async () => {
    const remainingMs: number[] = [];
    let told = 0;
    const { b } = await chain({
      async echo(_request, { deadline, signal }) {
        remainingMs.push((deadline?.getTime() ?? Number.POSITIVE_INFINITY) - Date.now());
        if (!signal.aborted) await once(signal, 'abort');
        told += 1;
        throw signal.reason;
      },
    });
    let deadlineMs = 150;
    const call = () => expect(b.client.echo({}, { deadlineMs })).rejects.toMatchObject({ kind: 'unavailable' });
    await call();
    // Again, with more time, where the call was over before it came so far.
    for (; remainingMs.length === 0; deadlineMs *= 2) await call();
    expect(Math.max(...remainingMs)).toBeLessThanOrEqual(deadlineMs);
    await waitUntil(() => told === remainingMs.length);
  });

  it('what a handler leaves to be done later has time of its own', async () => {
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
