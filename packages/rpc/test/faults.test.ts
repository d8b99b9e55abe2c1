import { setTimeout as pause } from 'node:timers/promises';
import { Fault, type FaultKind } from '@call-analysis/fault';
import { waitUntil } from '@call-analysis/testing';
import { credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { z } from 'zod';
import { nothing, openTrial, PlainClient, WAYS } from './trial.ts';

let open: Awaited<ReturnType<typeof openTrial>> | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

async function failure(work: Promise<unknown>): Promise<Fault> {
  const error: unknown = await work.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (error instanceof Fault) return error;
  throw error;
}

const CODES: [FaultKind, status][] = [
  ['invalid', status.INVALID_ARGUMENT],
  ['unauthenticated', status.UNAUTHENTICATED],
  ['forbidden', status.PERMISSION_DENIED],
  ['not-found', status.NOT_FOUND],
  ['conflict', status.FAILED_PRECONDITION],
  ['stale', status.ABORTED],
  ['unseen', status.FAILED_PRECONDITION],
  ['too-large', status.OUT_OF_RANGE],
  ['rate-limited', status.RESOURCE_EXHAUSTED],
  ['unavailable', status.UNAVAILABLE],
  ['internal', status.INTERNAL],
];

describe.each(WAYS)('a Fault that a handler throws, %s,', (_way, address) => {
  it('reaches the caller complete, with any kind, message and details', async () => {
    let next: Fault | undefined;
    open = await openTrial(
      {
        echo: async () => {
          throw next;
        },
      },
      { address: address() },
    );
    const { client } = open;
    const kinds = CODES.map(([kind]) => kind);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...kinds),
        fc.string(),
        fc.string({ unit: 'binary' }),
        fc.option(fc.dictionary(fc.string(), fc.jsonValue())),
        async (kind, code, message, details) => {
          next = new Fault(kind, code, message, { details });
          const seen = await failure(client.echo({}));
          const read = { kind: seen.kind, code: seen.code, message: seen.message, details: seen.details };
          expect(JSON.stringify(read)).toBe(JSON.stringify({ kind, code, message, details }));
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each(CODES)('of kind %s is gRPC status %d for a client that does not know Faults', async (kind, code) => {
    open = await openTrial(
      {
        echo: async () => {
          throw new Fault(kind, 'SOME_CODE', `100 % ключ \ud800 ${'long '.repeat(1000)}`);
        },
      },
      { address: address() },
    );
    const plain = new PlainClient(open.server.address, credentials.createInsecure());
    const error = await new Promise<ServiceError>((resolve) => {
      plain.Echo?.({}, (failed: ServiceError) => resolve(failed));
    });
    plain.close();
    expect(error.code).toBe(code);
    expect(error.details).toContain('100 % ключ \ufffd long');
  });

  it('survives with 300 KB of incompressible details', async () => {
    const faults = Array.from({ length: 100 }, (_, row) => ({
      row,
      value: Array.from({ length: 3000 }, () => String.fromCharCode(0x4e00 + Math.random() * 20_000)).join(''),
    }));
    open = await openTrial(
      {
        echo: async () => {
          throw new Fault('invalid', 'VALIDATION_FAILED', 'rows are at fault', { details: { faults } });
        },
      },
      { address: address() },
    );
    expect((await failure(open.client.echo({}))).details).toEqual({ faults });
  });

  it('survives without its details when they are too large', async () => {
    open = await openTrial(
      {
        echo: async () => {
          throw new Fault('invalid', 'VALIDATION_FAILED', 'rows', { details: { all: 'x'.repeat(9 * 2 ** 20) } });
        },
      },
      { address: address() },
    );
    expect(await failure(open.client.echo({}))).toMatchObject({ code: 'VALIDATION_FAILED', details: null });
  });

  it('ends a download after the messages before it', async () => {
    open = await openTrial(
      {
        async *download() {
          yield { what: 'first', count: 1, data: nothing };
          throw new Fault('conflict', 'GONE_BAD', 'in the middle', { details: { at: 1 } });
        },
      },
      { address: address() },
    );
    const seen: string[] = [];
    const { client } = open;
    const read = async () => {
      for await (const { what } of client.download({})) seen.push(what);
    };
    expect(await failure(read())).toMatchObject({ kind: 'conflict', code: 'GONE_BAD', details: { at: 1 } });
    expect(seen).toEqual(['first']);
  });

  it('ends an upload that is still under way', async () => {
    open = await openTrial(
      {
        async upload(requests) {
          for await (const { count } of requests) {
            if (count === 3) throw new Fault('too-large', 'FILE_TOO_LARGE', 'enough');
          }
          return { what: 'all', count: 0, data: nothing };
        },
      },
      { address: address() },
    );
    let left = false;
    async function* endless() {
      try {
        for (let count = 0; ; count += 1) {
          yield { count };
          await new Promise(setImmediate);
        }
      } finally {
        left = true;
      }
    }
    expect(await failure(open.client.upload(endless()))).toMatchObject({ kind: 'too-large', code: 'FILE_TOO_LARGE' });
    await waitUntil(() => left);
  });

  it('is logged with its code only when it is an answer, because its message may quote data', async () => {
    open = await openTrial(
      {
        echo: async () => {
          throw new Fault('invalid', 'INVALID_PHONE_NUMBER', 'not a phone: +998901234567x', {
            details: { value: '+998901234567x' },
          });
        },
      },
      { address: address() },
    );
    await failure(open.client.echo({}));
    expect(open.lines).toHaveLength(1);
    expect(open.lines[0]).toMatchObject({ level: 'info', code: 'INVALID_PHONE_NUMBER' });
    expect(JSON.stringify(open.lines)).not.toContain('998901234567');
  });
});

describe.each(WAYS)('a zod error, %s,', (_way, address) => {
  it("is the caller's mistake while the request is parsed, and a failure of the service afterwards", async () => {
    const parse = (value: unknown) => z.object({ what: z.string().min(1) }).parse(value);
    open = await openTrial(
      {
        echo: async (request) => ({ ...request, ...parse(request) }),
        read: async (request) => {
          await pause(1);
          return { ...request, ...parse(request) };
        },
        async *download(request) {
          yield { ...request, ...parse(request) };
          yield { ...request, ...parse({}) };
        },
        async upload(requests) {
          for await (const request of requests) {
            if (request.count === 3) await pause(1);
            parse(request);
          }
          return { what: 'all', count: 0, data: nothing };
        },
      },
      { address: address() },
    );
    const { client } = open;
    const refused = {
      kind: 'invalid',
      code: 'VALIDATION_ERROR',
      details: { fields: [{ field: 'what', code: 'INVALID' }] },
    };
    expect(await failure(client.echo({}))).toMatchObject(refused);
    expect(await failure(client.read({}))).toMatchObject({ kind: 'internal', code: 'INTERNAL' });
    expect(await failure(client.download({})[Symbol.asyncIterator]().next())).toMatchObject(refused);
    async function* sent(...requests: { what?: string; count?: number }[]) {
      yield* requests;
    }
    expect(await failure(client.upload(sent({})))).toMatchObject(refused);
    expect(await failure(client.upload(sent({ what: 'it' }, { count: 2 })))).toMatchObject(refused);
    expect(await failure(client.upload(sent({ what: 'it' }, { count: 3 })))).toMatchObject({ kind: 'internal' });
    expect(await client.upload(sent({ what: 'it' }))).toMatchObject({ what: 'all' });
    const seen: string[] = [];
    const all = async () => {
      for await (const { what } of client.download({ what: 'it' })) seen.push(what);
    };
    expect(await failure(all())).toMatchObject({ kind: 'internal' });
    expect(seen).toEqual(['it']);
    expect((await client.echo({ what: 'it' })).what).toBe('it');
  });
});

describe.each(WAYS)('an error that is no Fault, %s,', (_way, address) => {
  it('is described in the log only and reaches the caller as INTERNAL', async () => {
    open = await openTrial(
      {
        echo: async () => {
          throw new Error('relation "keys" does not exist');
        },
      },
      { address: address() },
    );
    const plain = new PlainClient(open.server.address, credentials.createInsecure());
    const raw = await new Promise<ServiceError>((resolve) => {
      plain.Echo?.({}, new Metadata(), (failed: ServiceError) => resolve(failed));
    });
    plain.close();
    const fault = await failure(open.client.echo({}));
    expect(fault).toMatchObject({ kind: 'internal', code: 'INTERNAL', details: null });
    expect(`${fault.message} ${raw.message} ${JSON.stringify(raw.metadata.getMap())}`).not.toContain('keys');
    expect(open.lines).toHaveLength(2);
    expect(open.lines[1]).toMatchObject({
      level: 'error',
      err: { cause: { message: 'relation "keys" does not exist', stack: expect.stringContaining('faults.test.ts') } },
    });
  });

  it.each([
    ['details that are not JSON', () => new Fault('invalid', 'ODD', 'odd', { details: { big: 1n } })],
    ['nothing at all', () => undefined],
  ])('includes %s, and the server lives on', async (_what, make) => {
    open = await openTrial(
      {
        echo: async ({ count }) => {
          if (count === 0) throw make();
          return { what: 'well', count, data: nothing };
        },
      },
      { address: address() },
    );
    expect(await failure(open.client.echo({ count: 0 }))).toMatchObject({ kind: 'internal' });
    expect(await open.client.echo({ count: 1 })).toMatchObject({ what: 'well' });
  });

  it('includes messages over 16 MiB, either way', async () => {
    open = await openTrial(
      { echo: async ({ count }) => ({ what: '', count, data: Buffer.alloc(count) }) },
      { address: address() },
    );
    const justFits = 16 * 2 ** 20 - 64;
    expect((await open.client.echo({ count: justFits })).data).toHaveLength(justFits);
    expect(await failure(open.client.echo({ count: 16 * 2 ** 20 }))).toMatchObject({ kind: 'internal' });
    expect(await failure(open.client.echo({ data: Buffer.alloc(16 * 2 ** 20) }))).toMatchObject({ kind: 'internal' });
  });
});
