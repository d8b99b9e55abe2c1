import dns from 'node:dns';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, openTcpProxy, waitUntil } from '@call-analysis/testing';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { dial, type Server, type Tls } from '../index.ts';
import { newAuthority } from './certificates.ts';
import { nothing, serveTrial, trial, type TrialHandlers } from './trial.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  jest.restoreAllMocks();
});

/** A server that answers with its name, and can be stopped and started again at the same address. */
class Replica {
  calls = 0;
  #server: Server | undefined;
  readonly #name: string;
  readonly #options: { tls?: Tls | undefined; connectionAgeMs?: number };

  constructor(name: string, options: { tls?: Tls | undefined; connectionAgeMs?: number } = {}) {
    this.#name = name;
    this.#options = options;
    closing.push(() => this.#server?.stop(0));
  }

  async start(address: string, handlers: TrialHandlers = {}): Promise<number> {
    const answer = async () => {
      this.calls += 1;
      await pause(Math.random() * 5);
      return { what: this.#name, count: 0, data: nothing };
    };
    const all: TrialHandlers = {
      echo: answer,
      read: answer,
      async upload(requests) {
        let count = 0;
        for await (const { data } of requests) count += data.length;
        return { what: '', count, data: nothing };
      },
      ...handlers,
    };
    const { server } = await serveTrial(all, { address, ...this.#options });
    this.#server = server;
    return Number(server.address.split(':').at(-1));
  }

  stop(graceMs?: number): Promise<void> {
    return this.#server?.stop(graceMs) ?? Promise.resolve();
  }
}

/** A client whose calls must all succeed. */
function caller(address: string, tls?: Tls) {
  const client = dial(trial, address, { name: 'The trial', deadlineMs: 60_000, tls });
  closing.push(() => client.close());
  return client;
}

/** A host name for addresses that may change. */
function nameFor(addresses: string[]): string {
  const lookup = async () => addresses.map((address) => ({ address, family: 4 }));
  jest.spyOn(dns.promises, 'lookup').mockImplementation(lookup as unknown as typeof dns.promises.lookup);
  return 'replicas.test';
}

async function* chunks(count: number, bytes: number) {
  for (let index = 0; index < count; index += 1) yield { data: Buffer.alloc(bytes) };
}

describe('several replicas with one host name', () => {
  it('are called in turn', async () => {
    const [a, b] = [new Replica('a'), new Replica('b')];
    const port = await a.start('127.0.0.1:0');
    await b.start(`127.0.0.2:${port}`);
    const client = caller(`${nameFor(['127.0.0.1', '127.0.0.2'])}:${port}`);
    await client.echo({});
    // The first call does not wait for the second connection.
    while (a.calls === 0 || b.calls === 0) await client.echo({});
    const before = [a.calls, b.calls];
    for (let call = 0; call < 40; call += 1) await client.echo({});
    expect([a.calls - before[0]!, b.calls - before[1]!]).toEqual([20, 20]);
  });

  it('share the calls with a new replica once connections reach their maximum age, and no call fails', async () => {
    const [a, b] = [new Replica('a', { connectionAgeMs: 150 }), new Replica('b')];
    const port = await a.start('127.0.0.1:0');
    const addresses = ['127.0.0.1'];
    const client = caller(`${nameFor(addresses)}:${port}`);
    await client.echo({});
    await b.start(`127.0.0.2:${port}`);
    addresses.push('127.0.0.2');
    // By itself a connection lasts for five minutes, which is longer than this test may take.
    while (b.calls === 0) await Promise.all([client.echo({}), client.echo({})]);
  });

  it('lose no read when the connections of one are reset repeatedly', async () => {
    const [a, b] = [new Replica('a'), new Replica('b')];
    const proxy = await openTcpProxy({ port: await a.start('127.0.0.1:0') });
    closing.push(() => proxy.close());
    const client = caller(`ipv4:127.0.0.1:${proxy.port},127.0.0.1:${await b.start('127.0.0.1:0')}`);
    const over = new AbortController();
    let read = 0;
    const readers = Array.from({ length: 20 }, async () => {
      for (; !over.signal.aborted; read += 1) expect((await client.read({})).what).toMatch(/^[ab]$/);
    });
    for (let round = 0; round < 4; round += 1) {
      const before = a.calls;
      await waitUntil(() => a.calls > before + 20);
      proxy.cut();
      const readBefore = read;
      await waitUntil(() => read > readBefore + 20);
      proxy.heal();
    }
    over.abort();
    await Promise.all(readers);
  });

  it('do not get a call again that may have been handled', async () => {
    const a = new Replica('a');
    let begun = 0;
    const port = await a.start('127.0.0.1:0', {
      async echo() {
        begun += 1;
        proxy.cut();
        return new Promise(() => {});
      },
    });
    const proxy = await openTcpProxy({ port });
    closing.push(() => proxy.close());
    const b = new Replica('b');
    const client = caller(`ipv4:127.0.0.1:${proxy.port}`);
    await expect(client.echo({})).rejects.toMatchObject({ kind: 'unavailable' });
    expect([begun, b.calls]).toEqual([1, 0]);
  });

  const tls = () => newAuthority('ours').issue(['replicas.test', 'gateway']);
  it.each([
    ['in plain text', () => undefined],
    ['over TLS', tls],
  ])('handle each call once when they are restarted in turn under load, %s', async (_how, credentials) => {
    const own = credentials();
    const hosts = ['127.0.0.1', '127.0.0.2'];
    const replicas = [new Replica('a', { tls: own }), new Replica('b', { tls: own })];
    // A port that no other process takes while a replica is down.
    const port = await freePort();
    for (const [index, replica] of replicas.entries()) await replica.start(`${hosts[index]}:${port}`);
    const client = caller(`${nameFor(hosts)}:${port}`, own);
    const over = new AbortController();
    let [asked, uploaded] = [0, 0];
    const failures: unknown[] = [];
    const load = [
      ...Array.from({ length: 12 }, async () => {
        while (!over.signal.aborted)
          await client.echo({}).then(
            () => (asked += 1),
            (error: unknown) => failures.push(error),
          );
      }),
      ...Array.from({ length: 3 }, async () => {
        while (!over.signal.aborted) {
          const upload = client.upload(chunks(40, 50_000)).then(({ count }) => expect(count).toBe(2_000_000));
          await upload.then(
            () => (uploaded += 1),
            (error: unknown) => failures.push(error),
          );
        }
      }),
    ];
    for (let round = 0; round < 6; round += 1) {
      const replica = replicas[round % 2]!;
      await replica.stop(60_000);
      const askedBefore = asked;
      await waitUntil(() => failures.length > 0 || asked > askedBefore + 10);
      const { calls } = replica;
      await replica.start(`${hosts[round % 2]}:${port}`);
      // While the client has no connection to it, the other one cannot be stopped.
      await waitUntil(() => failures.length > 0 || replica.calls > calls);
    }
    await waitUntil(() => failures.length > 0 || uploaded > 3);
    over.abort();
    await Promise.all(load);
    expect(failures.map((each) => (each as Error).cause ?? each)).toEqual([]);
    expect(replicas[0]!.calls + replicas[1]!.calls).toBe(asked);
  });
});
