import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:http2';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { currentContext, isRequestId, isTraceparent, StartFault, withContext } from '@call-analysis/runtime';
import { freePort, waitUntil } from '@call-analysis/testing';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { dial } from '../index.ts';
import { newAddress, nothing, openTrial, trial, WAYS } from './trial.ts';

const opened: { close(): Promise<void> }[] = [];
async function openOne(...args: Parameters<typeof openTrial>): ReturnType<typeof openTrial> {
  const open = await openTrial(...args);
  opened.push(open);
  return open;
}
const openAt =
  (address: () => string): typeof openTrial =>
  (handlers, options) =>
    openOne(handlers, { address: address(), ...options });
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

const until = async (isSo: () => boolean) => {
  while (!isSo()) await setTimeout(2);
};

/** Resolves once a number that grows has reached something and grows no more. */
async function settled(value: () => number): Promise<void> {
  for (let before = 0; before === 0 || before !== value(); await setTimeout(50)) before = value();
}

async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
}

describe.each(WAYS)('%s', (_way, address) => {
  it('unary calls, downloads and uploads get their answers', async () => {
    const { client, server } = await openOne({}, { address: address() });
    expect(server.address).not.toMatch(/:0$/);
    expect(await client.echo({ what: 'ключ', count: 7 })).toEqual({ what: 'ключ', count: 7, data: nothing });

    const counts: number[] = [];
    for await (const { count } of client.download({ count: 100 })) counts.push(count);
    expect(counts).toEqual(Array.from({ length: 100 }, (_, index) => index));

    async function* chunks() {
      for (let index = 0; index < 100; index += 1) yield { data: Buffer.alloc(1000) };
    }
    expect(await client.upload(chunks())).toMatchObject({ count: 100, what: '100000' });
  });

  it('a service that was restarted is found again', async () => {
    // A port that no other process takes while the service is down.
    const fixed = address().replace(/:0$/, `:${await freePort()}`);
    const first = await openOne({}, { address: fixed });
    const { client } = first;
    expect(await client.echo({ what: 'a' })).toMatchObject({ what: 'a' });
    await first.server.stop();
    for (let asked = 0; asked < 10; asked += 1) {
      await expect(client.echo({})).rejects.toMatchObject({ kind: 'unavailable' });
    }
    await openOne({}, { address: fixed });
    await waitUntil(() => client.echo({}));
  });
});

describe.each(WAYS)('a call %s', (_way, address) => {
  const open = openAt(address);

  it('fails with UNAVAILABLE, naming the service, when no server listens', async () => {
    const client = dial(trial, address().replace(/:0$/, ':1'), { name: 'Key management' });
    await expect(client.echo({})).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'UNAVAILABLE',
      message: 'Key management does not answer. Try again shortly.',
    });
    await expect(client.ready()).rejects.toMatchObject({ kind: 'unavailable' });
    client.close();
  });

  it('fails with UNAVAILABLE at its deadline, and its handler is aborted', async () => {
    let [reached, stopped] = [0, 0];
    let deadlineMs = 60;
    // The deadline of the channel comes after the end of the test.
    const { client, lines } = await open(
      {
        echo: async (_request, call) => {
          expect(call.deadline?.getTime()).toBeLessThanOrEqual(Date.now() + deadlineMs);
          reached += 1;
          await aborted(call.signal).catch(() => {});
          stopped += 1;
          return { what: '', count: 0, data: nothing };
        },
      },
      { deadlineMs: 3_600_000 },
    );
    await client.ready();
    lines.length = 0;
    const call = () => expect(client.echo({}, { deadlineMs })).rejects.toMatchObject({ kind: 'unavailable' });
    await call();
    // Repeated with more time when the deadline passed before the handler was reached.
    const isReached = () => reached > 0;
    for (; !isReached(); deadlineMs *= 2) await call();
    await until(() => stopped === reached && lines.length >= stopped);
    expect(lines).toHaveLength(stopped);
    // The deadline may pass on either side first.
    const line = { level: 'warn', code: expect.stringMatching(/^(DEADLINE_EXCEEDED|CANCELLED)$/) };
    expect(lines).toEqual(lines.map(() => expect.objectContaining(line)));
  });

  it('has the deadline of its channel by default', async () => {
    const { client } = await open({ echo: (_request, { signal }) => aborted(signal) }, { deadlineMs: 50 });
    await expect(client.echo({})).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('is cancelled by its signal, rejects with the reason and stops its handler', async () => {
    const reason = new Error('the browser has gone');
    const stopped: string[] = [];
    const { client } = await open({
      echo: async (_request, { signal }) => {
        abort.abort(reason);
        await once(signal, 'abort');
        stopped.push('echo');
        throw signal.reason;
      },
    });
    const abort = new AbortController();
    await expect(client.echo({}, { signal: abort.signal })).rejects.toBe(reason);
    await until(() => stopped.length > 0);
    await expect(client.echo({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('does not abort the signal of a finished call', async () => {
    const signals: AbortSignal[] = [];
    const { client } = await open({
      echo: async (_request, { signal }) => {
        signals.push(signal);
        return { what: '', count: 0, data: nothing };
      },
    });
    for (let call = 0; call < 3; call += 1) await client.echo({});
    expect(signals.map(({ aborted: isAborted }) => isAborted)).toEqual([false, false, false]);
  });

  it('carries the request id and the trace to the handler and to the calls that the handler makes', async () => {
    const seen: ReturnType<typeof currentContext>[] = [];
    const inner = await open({
      async *download() {
        seen.push(currentContext());
        yield { what: '', count: 0, data: nothing };
      },
    });
    const outer = await open({
      echo: async () => {
        seen.push(currentContext());
        for await (const _ of inner.client.download({}));
        return { what: '', count: 0, data: nothing };
      },
    });
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await withContext({ requestId: 'r-1', traceparent }, () => outer.client.echo({}));
    expect(seen.map((each) => each?.requestId)).toEqual(['r-1', 'r-1']);
    const traces = seen.map((each) => each?.traceparent ?? '');
    expect(traces.every((each) => isTraceparent(each) && each.startsWith(traceparent.slice(0, 36)))).toBe(true);
    expect(new Set([traceparent, ...traces]).size).toBe(3);
    expect(inner.lines[0]).toMatchObject({ request_id: 'r-1', method: '/call_analysis.trial.v1.Trial/Download' });

    await outer.client.echo({});
    expect(isRequestId(seen[2]?.requestId ?? '')).toBe(true);
  });

  it('logs one line, without its content', async () => {
    const { client, lines } = await open();
    await client.echo({ what: '+998901234567' });
    const method = '/call_analysis.trial.v1.Trial/Echo';
    expect(lines).toMatchObject([{ level: 'info', method, code: 'OK', msg: 'rpc' }]);
    expect(lines[0]?.ms).toEqual(expect.any(Number));
    expect(JSON.stringify(lines)).not.toContain('998901234567');
  });
});

describe('a download', () => {
  const chunk = Buffer.alloc(256 * 1024);

  it('is produced no faster than it is read, apart from buffers', async () => {
    let produced = 0;
    const { client } = await openOne({
      async *download() {
        for (; produced < 300; produced += 1) yield { what: '', count: produced, data: chunk };
      },
    });
    let read = 0;
    for await (const _ of client.download({})) {
      read += 1;
      if (read === 10) {
        await settled(() => produced);
        // 8 MiB of window, and sixteen messages on either side.
        expect(produced - read).toBeLessThan(32 + 64);
      }
    }
    expect(read).toBe(300);
  });

  it('that is left early stops its handler', async () => {
    let finished = false;
    const { client } = await openOne({
      async *download() {
        try {
          for (;;) yield { what: '', count: 0, data: chunk };
        } finally {
          finished = true;
        }
      },
    });
    for await (const _ of client.download({})) break;
    await until(() => finished);
  });

  it('rejects with the reason of its signal', async () => {
    const abort = new AbortController();
    const { client } = await openOne({
      async *download(_request, { signal }) {
        yield { what: '', count: 0, data: nothing };
        await once(signal, 'abort');
      },
    });
    const read = async () => {
      for await (const _ of client.download({}, { signal: abort.signal })) abort.abort(new Error('enough'));
    };
    await expect(read()).rejects.toThrow('enough');
  });
});

describe('an upload', () => {
  it('is read from its source no faster than the handler reads', async () => {
    let goOn = () => {};
    const wait = new Promise<void>((resolve) => (goOn = resolve));
    const { client } = await openOne({
      async upload(requests) {
        let count = 0;
        for await (const _ of requests) {
          if (count === 3) await wait;
          count += 1;
        }
        return { what: '', count, data: nothing };
      },
    });
    let produced = 0;
    async function* chunks() {
      for (; produced < 200; produced += 1) yield { data: Buffer.alloc(256 * 1024) };
    }
    const answer = client.upload(chunks());
    await settled(() => produced);
    expect(produced).toBeLessThan(32 + 64);
    goOn();
    expect(await answer).toMatchObject({ count: 200 });
  });

  it.each([
    ['its source fails', () => Promise.reject(new Error('the disk is gone'))],
    ['its signal aborts', (abort: AbortController) => abort.abort(new Error('the disk is gone'))],
  ])('that is broken off because %s is never taken for a complete one', async (_how, breakOff) => {
    let received = 0;
    let outcome: unknown;
    const { client, lines } = await openOne({
      async upload(requests) {
        try {
          for await (const _ of requests) received += 1;
          outcome = 'complete';
        } catch (error) {
          outcome = error;
          throw error;
        }
        return { what: '', count: received, data: nothing };
      },
    });
    const abort = new AbortController();
    async function* broken() {
      yield { data: Buffer.alloc(100_000) };
      yield { data: Buffer.alloc(100_000) };
      await until(() => received === 2);
      await breakOff(abort);
      await setTimeout(50);
    }
    await expect(client.upload(broken(), { signal: abort.signal })).rejects.toThrow('the disk is gone');
    await until(() => lines.length > 0);
    expect(outcome).not.toBe('complete');
    expect(lines[0]?.code).toMatch(/^(CANCELLED|BROKEN_OFF)$/);
  });

  it('may be answered before its end', async () => {
    const { client } = await openOne({
      async upload(requests) {
        for await (const { count } of requests) if (count === 2) break;
        return { what: 'enough', count: 2, data: nothing };
      },
    });
    let left = false;
    async function* endless() {
      try {
        for (let count = 0; ; count += 1) {
          yield { count };
          await setTimeout(1);
        }
      } finally {
        left = true;
      }
    }
    expect(await client.upload(endless())).toMatchObject({ what: 'enough' });
    await until(() => left);
  });
});

describe.each(WAYS)('a server %s', (_way, address) => {
  const open = openAt(address);

  it('is ready while its check succeeds, checks only on request, and is not ready when stopping', async () => {
    let isReady = false;
    let asked = 0;
    const { client, server } = await open(
      {},
      {
        ready: async () => {
          asked += 1;
          if (!isReady) throw new Error('no database');
        },
      },
    );
    expect(asked).toBe(0);
    await expect(client.ready()).rejects.toMatchObject({ kind: 'unavailable' });
    isReady = true;
    // The clock stands still, so that the cached answer does not expire between two callers.
    const now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockReturnValue(now);
    await client.ready();
    await Promise.all(Array.from({ length: 20 }, () => client.ready()));
    clock.mockRestore();
    expect(asked).toBe(2);
    await server.stop();
    await expect(client.ready()).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('that stops refuses new calls and lets those in flight finish', async () => {
    let finish = () => {};
    const inProgress = new Promise<void>((resolve) => (finish = resolve));
    const begun: string[] = [];
    const { client, server } = await open({
      echo: async ({ what, count, data }) => {
        begun.push(what);
        await inProgress;
        return { what, count, data };
      },
    });
    const answer = client.echo({ what: 'last' });
    await until(() => begun.length > 0);
    let isStopped = false;
    const stopped = server.stop(60_000).then(() => (isStopped = true));
    await expect(client.echo({ what: 'late' }, { deadlineMs: 5_000 })).rejects.toMatchObject({ kind: 'unavailable' });
    expect(begun).toEqual(['last']);
    expect(isStopped).toBe(false);
    finish();
    expect(await answer).toMatchObject({ what: 'last' });
    await stopped;
  });

  it('that stops cancels calls after the grace period, logs their number, and waits for their handlers', async () => {
    let [begun, ended] = [false, false];
    const { client, server, lines } = await open({
      echo: async (_request, { signal }) => {
        begun = true;
        await once(signal, 'abort');
        await setTimeout(20);
        ended = true;
        throw signal.reason;
      },
    });
    // The caller learns it from the connection, not from a deadline.
    const answer = client.echo({}, { deadlineMs: 3_600_000 });
    answer.catch(() => {});
    await until(() => begun);
    await server.stop(50);
    expect(ended).toBe(true);
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', calls: 1, msg: expect.stringContaining('cut off') }),
    );
    await expect(answer).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('gives connections a flow-control window of 8 MiB in its direction too', async () => {
    const { server } = await open({}, { address: '127.0.0.1:0' });
    const session = connect(`http://${server.address}`);
    await until(() => session.remoteSettings?.initialWindowSize === 8 * 2 ** 20);
    await until(() => (session.state.remoteWindowSize ?? 0) >= 8 * 2 ** 20);
    session.destroy();
  });

  it('replaces a socket that a killed process left behind', async () => {
    const address = newAddress();
    const path = address.slice('unix:'.length);
    const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('there'))`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(existsSync(path)).toBe(true);
    const { client } = await open({}, { address });
    expect(await client.echo({ what: 'here' })).toMatchObject({ what: 'here' });
  });

  it('reports in a sentence that its address is in use', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const address = `127.0.0.1:${(holder.address() as { port: number }).port}`;
    const failure: unknown = await openTrial({}, { address }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartFault);
    expect((failure as StartFault).message).toBe(`${address} is in use by another process.`);
    holder.close();

    const living = await open();
    await expect(openTrial({}, { address: living.server.address })).rejects.toBeInstanceOf(StartFault);
    expect(await living.client.echo({ what: 'still here' })).toMatchObject({ what: 'still here' });
  });
});
