import { Writable } from 'node:stream';
import { Fault } from '@call-analysis/fault';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { withContext } from './context.ts';
import { createLog, type Logger } from './log.ts';

type Line = Record<string, unknown> & { err: Record<string, unknown> };

function logged(write: (log: Logger) => void): { text: string; lines: Line[] } {
  let text = '';
  const destination = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  write(createLog({ name: 'test', level: 'debug', destination }));
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
  return { text, lines };
}

describe('a log', () => {
  it('writes one JSON line per message, with its level, time, name and fields', () => {
    const { lines } = logged((log) => {
      log.info({ method: 'VerifyKey', ms: 1.5 }, 'rpc');
      log.child({ part: 'csv' }).warn({}, 'slow');
    });
    expect(lines[0]).toMatchObject({ level: 'info', name: 'test', method: 'VerifyKey', ms: 1.5, msg: 'rpc' });
    expect(new Date(String(lines[0]?.time)).toISOString()).toBe(lines[0]?.time);
    expect(lines[1]).toMatchObject({ level: 'warn', part: 'csv', msg: 'slow' });
  });

  it('adds the id of the request to each of its lines', () => {
    const { lines } = logged((log) => {
      withContext({ requestId: 'r-1', traceparent: 't-1' }, () => log.info({}, 'inside'));
      log.info({}, 'outside');
    });
    expect(lines[0]).toMatchObject({ request_id: 'r-1', traceparent: 't-1' });
    expect(lines[1]).not.toHaveProperty('request_id');
  });

  it('describes an error with its causes and the errors it aggregates', () => {
    const { lines } = logged((log) => {
      const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', port: 5432 });
      log.error({ err: new Error('no database', { cause: refused }) }, 'failed');
      log.error({ err: new AggregateError([new Error('one'), new TypeError('two')], 'both') }, 'failed');
    });
    expect(lines[0]?.err).toMatchObject({
      type: 'Error',
      message: 'no database',
      stack: expect.stringContaining('log.test.ts'),
      cause: { message: 'connect ECONNREFUSED', code: 'ECONNREFUSED', port: 5432 },
    });
    expect(lines[1]?.err).toMatchObject({ errors: [{ message: 'one' }, { type: 'TypeError', message: 'two' }] });
  });

  it('leaves out the data that errors quote', () => {
    const { text } = logged((log) => {
      const details = { faults: [{ value: '+998901234567' }] };
      const fault = new Fault('invalid', 'VALIDATION_FAILED', 'rows are at fault', { details });
      const violation = Object.assign(new Error('duplicate key'), { detail: 'Key (phone)=(+998901234567) exists' });
      log.warn({ err: fault }, 'refused');
      log.warn({ err: violation }, 'refused');
    });
    expect(text).not.toContain('998901234567');
  });

  it('redacts secrets in fields of any spelling and depth', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(
          'authorization',
          'Authorization',
          'x-service-api-key',
          'api_key',
          'apiKey',
          'token',
          'access_token',
          'password',
          'S3_SECRET_KEY',
          'JWT_SECRET',
          'API_KEY_PEPPER',
          'X-Amz-Signature',
        ),
        fc.integer({ min: 0, max: 5 }),
        (name, depth) => {
          let fields: Record<string, unknown> = { [name]: 'hush-hush', other: 'seen' };
          for (let level = 0; level < depth; level += 1) {
            fields = level % 2 === 0 ? { inner: fields } : { list: [fields] };
          }
          const { text } = logged((log) => {
            log.info(fields, 'said');
            log.child(fields).info({}, 'said');
          });
          expect(text).not.toContain('hush-hush');
          expect(text).toContain('seen');
        },
      ),
      { numRuns: 60 },
    );
  });

  it('redacts secrets in texts: signed URLs, connection URLs, bearer tokens, API keys', () => {
    const key = `1a2b3c4$${'Zz9'.repeat(14)}Q`;
    const secrets = [
      '/objects/a.csv?expires=1&signature=hush-hush&x=1',
      'https://s3/b?X-Amz-Signature=hush-hush',
      'postgres://ingest:hush-hush@localhost/calls',
      'Authorization: Bearer hush-hush.abc',
    ];
    const { text } = logged((log) => {
      for (const secret of [...secrets, key]) {
        log.info({ url: secret, nested: [new URL('http://a/?signature=hush-hush')] }, `asked ${secret}`);
        log.error({ err: new Error(`failed: ${secret}`, { cause: new Error(secret) }) }, 'failed');
      }
    });
    expect(text).not.toContain('hush-hush');
    expect(text).not.toContain(key.slice(8));
    expect(text).toContain('/objects/a.csv?expires=1&signature=[redacted]&x=1');
  });

  it('accepts any value in a field', () => {
    const cycle: Record<string, unknown> = { n: 10n, bytes: Buffer.alloc(1000), at: new Date(0) };
    cycle.self = cycle;
    const { lines } = logged((log) => {
      log.info(cycle, 'odd');
      fc.assert(
        fc.property(fc.object(), (fields) => log.info(fields, 'odd')),
        { numRuns: 50 },
      );
    });
    expect(lines[0]).toMatchObject({ n: '10', bytes: '1000 bytes', at: '1970-01-01T00:00:00.000Z' });
    expect(lines).toHaveLength(51);
  });
});
