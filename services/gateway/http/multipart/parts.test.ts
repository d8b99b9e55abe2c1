import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { MalformedMultipart, partsOf } from './parts.ts';

interface Plain {
  headers: Record<string, readonly string[]>;
  body: string;
}

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let offset = 0;
  for (let index = 0; offset < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    yield bytes.subarray(offset, offset + size);
    offset += size;
    if (index % 3 === 0) await turn();
  }
}

async function read(bytes: Buffer, sizes: readonly number[]): Promise<Plain[]> {
  const parts: Plain[] = [];
  for await (const part of partsOf(cut(bytes, sizes), 'b')) {
    const pieces: Buffer[] = [];
    for await (const piece of part.bytes) pieces.push(piece);
    parts.push({ headers: { ...part.headers }, body: Buffer.concat(pieces).toString('latin1') });
  }
  return parts;
}

const write = (bodies: readonly string[], { preamble = '', epilogue = '' } = {}) =>
  Buffer.from(
    `${preamble}${bodies.map((body, index) => `--b\r\nX-Number: ${index}\r\n\r\n${body}\r\n`).join('')}--b--${epilogue}`,
    'latin1',
  );

// As much as possible that looks like a boundary but is not one.
const body = fc
  .array(fc.constantFrom('\r', '\n', '-', 'b', '\r\n', '\r\n-', '\r\n--', '--b', '\0', 'ÿ', 'some words'), {
    maxLength: 40,
  })
  .map((pieces) => pieces.join(''))
  .filter(
    (text) => !`\r\n${text}\r\n`.slice(0, -2).includes('\r\n--b') && !`${text}\r\n--b`.slice(0, -5).includes('\r\n--b'),
  );
const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 8 });

describe('the parts of a multipart body', () => {
  it('arrive unchanged, however the body is split', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(body, { minLength: 1, maxLength: 5 }), sizes, async (bodies, pieces) => {
        const parts = await read(write(bodies), pieces);
        expect(parts).toEqual(bodies.map((each, index) => ({ headers: { 'x-number': [String(index)] }, body: each })));
      }),
      { numRuns: 300 },
    );
  });

  it('may have text before the first and after the last', async () => {
    const bytes = write(['a', ''], { preamble: 'This is a form.\r\n', epilogue: '\r\nThis was a form.'.repeat(1000) });
    for (const size of [1, 7, 100_000]) expect((await read(bytes, [size])).map((part) => part.body)).toEqual(['a', '']);
  });

  it('may be skipped, whatever their size', async () => {
    const bytes = write(['x'.repeat(300_000), 'y', 'z'.repeat(300_000), 'end']);
    const seen: string[] = [];
    for await (const part of partsOf(cut(bytes, [65_536]), 'b')) seen.push(part.headers['x-number']?.[0] ?? '');
    expect(seen).toEqual(['0', '1', '2', '3']);
  });

  it('are read no faster than they are consumed', async () => {
    const bytes = write(['x'.repeat(2_000_000)]);
    let given = 0;
    const counted = async function* () {
      for await (const piece of cut(bytes, [65_536])) {
        given += piece.length;
        yield piece;
      }
    };
    for await (const part of partsOf(counted(), 'b')) {
      for (let waits = 0; waits < 50; waits += 1) await turn();
      expect(given).toBeLessThan(400_000);
      let size = 0;
      for await (const piece of part.bytes) size += piece.length;
      expect(size).toBe(2_000_000);
    }
  });

  it('end in an error when the body is incomplete', async () => {
    const bytes = write(['first', 'second']);
    const lastBoundary = bytes.length;
    await fc.assert(
      fc.asyncProperty(fc.nat(lastBoundary - 1), sizes, async (length, pieces) => {
        await expect(read(bytes.subarray(0, length), pieces)).rejects.toBeInstanceOf(MalformedMultipart);
      }),
      { numRuns: 100 },
    );
  });

  it('end with the error of the body, also in the middle of a part', async () => {
    const failing = async function* () {
      yield write(['x'.repeat(1000)]).subarray(0, 500);
      throw new Error('connection lost');
    };
    const reading = async () => {
      for await (const part of partsOf(failing(), 'b')) for await (const _ of part.bytes);
    };
    await expect(reading()).rejects.toThrow('connection lost');
  });

  it('need not be read to the end', async () => {
    for await (const part of partsOf(cut(write(['x'.repeat(1_000_000), 'y']), [65_536]), 'b')) {
      for await (const _ of part.bytes) break;
      break;
    }
    await turn();
  });
});
