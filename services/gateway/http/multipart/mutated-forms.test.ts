import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Fault } from '@call-analysis/fault';
import { mutated } from '@call-analysis/testing/mutated';
import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { type Form, readForm } from './form.ts';

const numRuns = process.env['TEST_RUN'] === 'long' ? 20_000 : 400;

const form: Form = {
  parts: { audio_file: { kind: 'file', maxBytes: 2_000 }, metadata: { kind: 'text', maxBytes: 500 } },
  maxMs: 60_000,
};
const BOUNDARY = 'b0und';
const file = (name: string, bytes: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="audio_file"; filename="${name}"\r\nContent-Type: audio/wav\r\n\r\n${bytes}\r\n`;
const text = (value: string, header = '') =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="metadata"\r\n${header}\r\n${value}\r\n`;
const END = `--${BOUNDARY}--\r\n`;

const seeds = [
  file('a.wav', 'RIFF some bytes') + text('{"a":1}') + END,
  text('{"client_phone_number":"+998901234567"}') + file('звонок.wav', '\r\n--b0un\r\n-'.repeat(20)) + END,
  `A preamble.\r\n${text('', 'Content-Transfer-Encoding: base64\r\n')}${file('', '')}${END}An epilogue.`,
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name=audio_file; filename*=UTF-8''%d0%b7.wav\r\n\r\nx\r\n${END}`,
  text('x'.repeat(499)) + text('again') + file('b.wav', 'y'.repeat(1_999)) + END,
].map((each) => Buffer.from(each));

const words = [
  `--${BOUNDARY}`,
  `\r\n--${BOUNDARY}\r\n`,
  END,
  '\r\n',
  '\r\n\r\n',
  '\r',
  '\n',
  '--',
  '"',
  '\\',
  ';',
  '\0',
  'Content-Disposition: form-data; name="metadata"\r\n\r\n',
  'filename="x"',
  "filename*=UTF-8''%ff",
  'Content-Transfer-Encoding: quoted-printable\r\n',
  `${'X: y\r\n'.repeat(50)}`,
  'name="__proto__"',
  '\u202e',
].map((each) => Buffer.from(each));

/** As the gateway reads a single upload: `accepted`, or the code of the refusal. */
async function read(input: Buffer, pieceBytes: number): Promise<string> {
  const request = Object.assign(Readable.from(piecesOf(input, pieceBytes)), {
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    setTimeout: () => request,
  }) as unknown as IncomingMessage;
  let bytes = 0;
  try {
    for await (const piece of readForm(form, request, {} as ServerResponse)) {
      bytes += 'bytes' in piece ? piece.bytes.length : 'text' in piece ? Buffer.byteLength(piece.text) : 0;
      if (bytes > input.length) throw new Error('A form yields more bytes than it has.');
    }
    return 'accepted';
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'invalid') throw error;
    return error.code;
  }
}

function* piecesOf(input: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < input.length; at += size) yield input.subarray(at, at + size);
}

it('every mutated form is accepted or refused with a code', async () => {
  const outcomes = new Set<string>();
  const pieceBytes = fc.oneof(fc.integer({ min: 1, max: 8 }), fc.constantFrom(64, 1_000, 65_536));
  const isRead = fc.asyncProperty(
    mutated(seeds, words),
    pieceBytes,
    async (input, size) => void outcomes.add(await read(input, size)),
  );
  await fc.assert(isRead, { numRuns, examples: seeds.map((seed) => [seed, 64]) });
  expect(outcomes).toContain('accepted');
  expect(outcomes.size).toBeGreaterThan(3);
}, 600_000);
