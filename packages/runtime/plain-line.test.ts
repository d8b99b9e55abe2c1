import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { withContext } from './context.ts';
import { createLog, type Logger } from './log.ts';
import { plainLine } from './plain-line.ts';

const context = { requestId: 'r-1', traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };

function written(write: (log: Logger) => void): Record<string, unknown> {
  const lines: string[] = [];
  write(
    createLog({ name: 'test', destination: { write: (line: string) => void lines.push(line) } }).child({
      part: 'a "b"',
    }),
  );
  expect(lines).toHaveLength(1);
  expect(lines[0]?.indexOf('\n')).toBe((lines[0]?.length ?? 0) - 1);
  const { time, ...line } = JSON.parse(lines[0]!) as Record<string, unknown>;
  expect(new Date(String(time)).toISOString()).toBe(time);
  return line;
}

const word = fc.oneof(
  fc.stringMatching(/^[\w./:*+-]{0,40}$/),
  fc.string(),
  fc.constantFrom(
    '"',
    '\\',
    '\u2028',
    'Bearer abc.def',
    '/a?signature=x',
    'postgres://u:pw@host',
    `1a2b3c4$${'a'.repeat(43)}`,
  ),
);
const name = fc.oneof(
  fc.stringMatching(/^[a-z_]{1,12}$/),
  fc.constantFrom('request_id', 'traceparent', 'token', 'apiKey', 'a "b"', 'é'),
);
const value = fc.oneof(word, fc.integer(), fc.double(), fc.boolean(), fc.constant(undefined), fc.constant(null));

it('a line of plain fields says what the same line says that has others too', () => {
  fc.assert(
    fc.property(fc.dictionary(name, value), word, fc.boolean(), (fields, message, isWithin) => {
      const log = (given: object) =>
        written((to) => (isWithin ? withContext(context, () => to.info(given, message)) : to.info(given, message)));
      const { otherwise, ...line } = log({ ...fields, otherwise: {} });
      expect(otherwise).toEqual({});
      expect(log(fields)).toEqual(line);
    }),
    { numRuns: 500 },
  );
});

it('the line of a request is plain', () => {
  const fields = { method: 'GET', route: '/objects/*key', firm_uuid: undefined, status: 200, ms: 0.4, aborted: true };
  expect(plainLine(context, fields, 'request')).toBe(
    `,"request_id":"r-1","traceparent":"${context.traceparent}","method":"GET","route":"/objects/*key","status":200,"ms":0.4,"aborted":true,"msg":"request"}\n`,
  );
});

it('a plain line is said to be ASCII unless the fields of its logger are not', () => {
  const ascii: string[] = [];
  const other: string[] = [];
  const destination = {
    write: (line: string) => void other.push(line),
    writeAscii: (line: string) => void ascii.push(line),
  };
  const log = createLog({ name: 'test', destination });
  log.info({ status: 200 }, 'request');
  log.child({ part: 'à' }).info({ status: 200 }, 'request');
  log.info({ route: '/é' }, 'request');
  expect(ascii.map((line) => JSON.parse(line))).toMatchObject([{ name: 'test', status: 200, msg: 'request' }]);
  expect(other.map((line) => JSON.parse(line))).toMatchObject([{ part: 'à', status: 200 }, { route: '/é' }]);
});
