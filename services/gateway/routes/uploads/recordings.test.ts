import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '@call-analysis/fault';
import type { UploadRecordingRequest } from '@call-analysis/proto/audio/v1/UploadRecordingRequest';
import { tries, waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { firm, type Fixture, openFixture, rawExchange, tokenFor, user } from '../../test/fixture.ts';

const path = '/api/v1/audio/upload';
const LIMIT = 52_428_800;
const BOUNDARY = 'x-boundary-1';

/** What the audio service received, in one piece for each part. */
interface Sent {
  uploader: unknown;
  file: { name: string; bytes: Buffer } | null;
  metadata: string | null;
  /** Whether the stream reached its end. */
  isComplete: boolean;
  order: string[];
}

let edge: Fixture;
let sent: Sent[];

beforeAll(async () => {
  edge = await openFixture();
});

afterAll(() => edge.close());

beforeEach(() => {
  sent = [];
  edge.recordings.uploadRecording = async (requests) => {
    await receive(requests);
    return { audio_id: 'a', ignored_fields: [] };
  };
});

async function receive(requests: AsyncIterable<UploadRecordingRequest>): Promise<Sent> {
  const received: Sent = { uploader: null, file: null, metadata: null, isComplete: false, order: [] };
  sent.push(received);
  const pieces: Buffer[] = [];
  try {
    for await (const request of requests) {
      if (request.part !== 'uploader' && received.order.at(-1) !== request.part)
        received.order.push(request.part ?? '');
      if (request.part === 'uploader') received.uploader = request.uploader;
      else if (request.part === 'file_name') received.file = { name: request.file_name ?? '', bytes: Buffer.alloc(0) };
      else if (request.part === 'chunk') pieces.push(request.chunk ?? Buffer.alloc(0));
      else received.metadata = request.metadata ?? '';
    }
    received.isComplete = true;
  } finally {
    if (received.file !== null) received.file.bytes = Buffer.concat(pieces);
  }
  return received;
}

type PartSpec = { head: string; body: string | Buffer };

const filePart = (body: string | Buffer = 'bytes', disposition = 'name="audio_file"; filename="a.wav"'): PartSpec => ({
  head: `Content-Disposition: form-data; ${disposition}\r\nContent-Type: audio/wav`,
  body,
});
const textPart = (body = '{}', name = 'metadata'): PartSpec => ({
  head: `Content-Disposition: form-data; name="${name}"`,
  body,
});

function formOf(parts: readonly PartSpec[], end = `--${BOUNDARY}--\r\n`): Buffer<ArrayBuffer> {
  const pieces = parts.flatMap(({ head, body }) => [`--${BOUNDARY}\r\n${head}\r\n\r\n`, body, '\r\n']);
  return Buffer.concat([...pieces, end].map((piece) => Buffer.from(piece)));
}

const formType = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };

const post = (body: Uint8Array<ArrayBuffer>, headers: Record<string, string> = formType) =>
  edge.request('POST', path, { body, headers });
const postForm = (...parts: PartSpec[]) => post(formOf(parts));

const fieldsOf = (response: { body: Record<string, unknown> }) =>
  (response.body['details'] as { fields: { field: string; code: string }[] }).fields.map(({ field, code }) => [
    field,
    code,
  ]);

const head = (...lines: string[]) => {
  const bearer = `Authorization: Bearer ${tokenFor('ADMIN')}`;
  const all = [`POST ${path} HTTP/1.1`, 'Host: x', bearer, `Content-Type: ${formType['content-type']}`, ...lines];
  return `${all.join('\r\n')}\r\n\r\n`;
};

/** Sends what a form begins with and then bytes, three times as many as a file may have, until there is a response. */
async function sendEndlessly(opening: Buffer): Promise<{ response: string; written: number }> {
  const chunk = Buffer.alloc(1_048_576, 'x');
  let written = 0;
  const response = await rawExchange(edge.url, (socket) => {
    socket.write(head('Transfer-Encoding: chunked'));
    socket.write(`${opening.length.toString(16)}\r\n`);
    socket.write(opening);
    socket.write('\r\n');
    const send = () => {
      if (!socket.writable || written > 3 * LIMIT) return;
      written += chunk.length;
      socket.write('100000\r\n');
      socket.write(chunk);
      socket.write('\r\n', send);
    };
    socket.once('data', () => socket.end());
    send();
  });
  return { response, written };
}

describe('a recording with its metadata', () => {
  it.each([
    ['first', [filePart(), textPart('{"a":"б"}')], ['file_name', 'chunk', 'metadata']],
    ['last', [textPart('{"a":"б"}'), filePart()], ['metadata', 'file_name', 'chunk']],
  ])('is forwarded with the file %s', async (_, parts, order) => {
    const response = await postForm(...parts);
    expect([response.status, response.body]).toEqual([
      200,
      { status: 'ok', audio_id: 'a', message: 'The recording was accepted and is queued for processing.' },
    ]);
    expect(sent).toEqual([
      {
        uploader: { firm_uuid: firm.uuid, user_uuid: user },
        file: { name: 'a.wav', bytes: Buffer.from('bytes') },
        metadata: '{"a":"б"}',
        isComplete: true,
        order,
      },
    ]);
  });

  it('may be sent by an ordinary HTTP client', async () => {
    const form = new FormData();
    const bytes = Buffer.alloc(3_000_000, 'xyz');
    form.set('metadata', '{"audio_file_name":"Звонок \\"1\\".wav"}');
    form.set('audio_file', new File([bytes], 'Звонок "1".wav'));
    const response = await fetch(edge.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokenFor('ADMIN')}` },
      body: form,
    });
    expect(response.status).toBe(200);
    expect(sent[0]?.file?.name).toBe('Звонок "1".wav');
    expect(sent[0]?.file?.bytes.equals(bytes)).toBe(true);
    expect(sent[0]?.metadata).toBe('{"audio_file_name":"Звонок \\"1\\".wav"}');
  });

  it('is accepted from every role, and refused without a token', async () => {
    const body = formOf([filePart(), textPart()]);
    expect((await edge.request('POST', path, { body, headers: formType, role: 'WORKFLOW_ENGINEER' })).status).toBe(200);
    const unauthenticated = await post(body, { ...formType, authorization: 'Bearer x' });
    expect([unauthenticated.status, unauthenticated.body['code']]).toEqual([401, 'UNAUTHENTICATED']);
    expect(sent).toHaveLength(1);
  });

  it.each([
    [{ repeated_upload: true }, 'This recording was uploaded before. Nothing was changed.'],
    [
      { repeated_upload: true, has_ended: true },
      'This recording was uploaded before. Nothing was changed. Its call failed permanently or was canceled. To upload ' +
        'it again, first erase that call (DELETE /api/v1/calls/{uuid}).',
    ],
  ])('that was uploaded before is not reported as queued: %j', async (repeated, message) => {
    edge.recordings.uploadRecording = async (requests) => {
      await receive(requests);
      return { audio_id: 'a', ignored_fields: [], ...repeated };
    };
    const response = await postForm(filePart(), textPart());
    expect([response.status, response.body]).toEqual([200, { status: 'ok', audio_id: 'a', message }]);
  });

  it('lists the unknown fields of its metadata', async () => {
    edge.recordings.uploadRecording = async (requests) => {
      await receive(requests);
      return { audio_id: 'a', ignored_fields: ['colour'] };
    };
    expect((await postForm(filePart(), textPart())).body).toMatchObject({ ignored_fields: ['colour'] });
  });

  it('may have exactly 50 MB, and arrives unchanged', async () => {
    const bytes = Buffer.alloc(LIMIT, '0123456789');
    expect((await postForm(textPart(), filePart(bytes))).status).toBe(200);
    expect(sent[0]?.file?.bytes.equals(bytes)).toBe(true);
  }, 60_000);

  it('gets the same response however the network splits it', async () => {
    const body = formOf([
      textPart('{"я":1}'),
      filePart(
        `a\r\n--${BOUNDARY.slice(0, -1)}\r\n\r\n--x\r\n-`,
        `name="audio_file"; filename="${'Я'.repeat(20)}.wav"`,
      ),
    ]);
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: body.length - 1 }), { maxLength: 12 });
    const sendInPieces = (at: readonly number[]) =>
      rawExchange(edge.url, (socket) => {
        socket.setNoDelay();
        const ends = [...at].sort((a, b) => a - b);
        const pieces = [...ends, body.length].map((end, index) => body.subarray(ends[index - 1] ?? 0, end));
        void (async () => {
          socket.write(head(`Content-Length: ${body.length}`, 'Connection: close'));
          for (const piece of pieces) {
            socket.write(piece);
            await delay(1);
          }
        })();
      });
    await fc.assert(
      fc.asyncProperty(cuts, async (at) => {
        sent = [];
        const response = await sendInPieces(at);
        expect(response).toMatch(/^HTTP\/1.1 200 /);
        expect(sent).toMatchObject([
          {
            isComplete: true,
            metadata: '{"я":1}',
            file: {
              name: `${'Я'.repeat(20)}.wav`,
              bytes: Buffer.from(`a\r\n--${BOUNDARY.slice(0, -1)}\r\n\r\n--x\r\n-`),
            },
          },
        ]);
      }),
      { numRuns: tries(40) },
    );
  });
});

describe('an invalid form', () => {
  const file = 'audio_file';
  const both = [file, 'metadata'];

  it.each([
    ['no parts', [], both],
    ['no file', [textPart()], [file]],
    ['no metadata', [filePart()], ['metadata']],
    ['a file without a name', [filePart('x', 'name="audio_file"'), textPart()], [file]],
    ['a file field where nothing was chosen', [filePart('', 'name="audio_file"; filename=""'), textPart()], [file]],
    ['other names', [filePart('x', 'name="audio"; filename="a.wav"'), textPart('{}', 'meta')], both],
    ['metadata twice and no file', [textPart(), textPart()], [file]],
  ])('with %s is MISSING_FILE and names the missing parts', async (_, parts, missing) => {
    const response = await postForm(...parts);
    expect([response.status, response.body['code'], response.body['details']]).toEqual([
      400,
      'MISSING_FILE',
      { missing },
    ]);
    expect(sent.every(({ isComplete }) => !isComplete)).toBe(true);
  });

  it.each([
    ['under another name', filePart('x', 'name="file"; filename="a.wav"'), 'file: is not known; the parts are'],
    ['without its name', filePart('x', 'name="audio_file"'), 'audio_file: has no file name'],
    ['with a name that is not UTF-8', filePart('x', 'name="audio_file"; filename="\xe9.wav"'), 'in UTF-8'],
  ])('with a file %s reports it as missing, with the reason', async (_, { head, body }, why) => {
    const pieces = [Buffer.from(`--${BOUNDARY}\r\n${head}\r\n\r\n`, 'latin1'), Buffer.from(body), Buffer.from('\r\n')];
    const response = await post(Buffer.concat([...pieces, formOf([textPart()])]));
    expect([response.status, response.body['code'], response.body['details']]).toEqual([
      400,
      'MISSING_FILE',
      { missing: [file] },
    ]);
    expect(response.body['message']).toMatch(/^audio_file is missing\. Send multipart\/form-data /);
    expect(response.body['message']).toContain(why);
  });

  it.each([
    ['an unknown part', [filePart(), textPart(), textPart('1', 'extra')], [['extra', 'UNKNOWN_FIELD']]],
    ['an unknown file', [filePart('x', 'name="b"; filename="b"'), filePart(), textPart()], [['b', 'UNKNOWN_FIELD']]],
    ['a second file', [filePart(), filePart(), textPart()], [['audio_file', 'REPEATED']]],
    ['a second metadata', [textPart(), filePart(), textPart()], [['metadata', 'REPEATED']]],
    ['a name of an object’s own', [filePart(), textPart(), textPart('1', 'toString')], [['toString', 'UNKNOWN_FIELD']]],
    ['metadata over 64 KiB', [filePart(), textPart('x'.repeat(65_537))], [['metadata', 'TOO_LONG']]],
    [
      'metadata that is not UTF-8',
      [filePart(), { ...textPart(), body: Buffer.from([0xff]) }],
      [['metadata', 'INVALID']],
    ],
    [
      'a name that is not UTF-8',
      [filePart(), textPart(), { head: 'Content-Disposition: form-data; name="\xff"', body: '' }],
      [['body', 'INVALID']],
    ],
    ['a part without a head', [filePart(), textPart(), { head: 'X: y', body: 'z' }], [['body', 'INVALID']]],
    [
      'a part in base64',
      [{ ...filePart(), head: `${filePart().head}\r\nContent-Transfer-Encoding: base64` }, textPart()],
      [['audio_file', 'INVALID']],
    ],
    [
      'many faults',
      [filePart(), filePart(), textPart(), textPart('', 'c')],
      [
        ['audio_file', 'REPEATED'],
        ['c', 'UNKNOWN_FIELD'],
      ],
    ],
  ] as [string, PartSpec[], string[][]][])('such as %s is VALIDATION_ERROR', async (_, parts, fields) => {
    const pieces = parts.flatMap(({ head, body }) => [
      Buffer.from(`--${BOUNDARY}\r\n`),
      Buffer.from(head, /[\x80-\xff]/.test(head) ? 'latin1' : 'utf8'),
      Buffer.from('\r\n\r\n'),
      Buffer.from(body),
      Buffer.from('\r\n'),
    ]);
    const response = await post(Buffer.concat([...pieces, Buffer.from(`--${BOUNDARY}--\r\n`)]));
    expect([response.status, response.body['code'], fieldsOf(response)]).toEqual([400, 'VALIDATION_ERROR', fields]);
    expect(sent.every(({ isComplete }) => !isComplete)).toBe(true);
  });

  it.each([
    ['no boundary', 'multipart/form-data', 'VALIDATION_ERROR'],
    ['an empty boundary', 'multipart/form-data; boundary=""', 'VALIDATION_ERROR'],
    ['a boundary of 300 characters', `multipart/form-data; boundary=${'x'.repeat(300)}`, 'VALIDATION_ERROR'],
  ])('with %s is refused without being read', async (_, type, code) => {
    const response = await post(Buffer.from('metadata={}'), { 'content-type': type });
    expect([response.status, response.body['code']]).toEqual([400, code]);
    expect(response.body['details']).not.toBeNull();
    expect(sent).toEqual([]);
  });

  it.each(['application/json', 'application/x-www-form-urlencoded', 'multipart/mixed; boundary=x', 'audio/wav'])(
    'of type %s is MISSING_FILE, with advice on how to send both parts',
    async (type) => {
      const response = await post(Buffer.from('x=1'), { 'content-type': type });
      expect([response.status, response.body['code'], response.body['details']]).toEqual([
        400,
        'MISSING_FILE',
        { missing: both },
      ]);
      expect(response.body['message']).toMatch(/^audio_file and metadata are missing\. Send multipart\/form-data /);
      expect(sent).toEqual([]);
    },
  );

  it('without any body is MISSING_FILE', async () => {
    const response = await edge.request('POST', path);
    expect([response.status, response.body['code']]).toEqual([400, 'MISSING_FILE']);
    expect(response.body['details']).toEqual({ missing: both });
  });

  it.each([
    ['without its last boundary', formOf([filePart(), textPart()], ''), 'VALIDATION_ERROR'],
    ['cut off in its second part', formOf([filePart(), textPart()]).subarray(0, 150), 'MISSING_FILE'],
    ['cut off in a head', formOf([filePart(), textPart(), textPart('', 'c')]).subarray(0, -45), 'VALIDATION_ERROR'],
    [
      'with another boundary',
      Buffer.from(formOf([filePart()]).toString().replaceAll(BOUNDARY, 'other')),
      'MISSING_FILE',
    ],
    ['with a head without end', Buffer.from(`--${BOUNDARY}\r\nContent-\r\n--${BOUNDARY}--`), 'MISSING_FILE'],
    [
      'of line feeds alone',
      Buffer.from(formOf([filePart(), textPart()]).toString().replaceAll('\r', '')),
      'MISSING_FILE',
    ],
  ])('%s is refused', async (_, body, code) => {
    const response = await post(Buffer.from(body));
    expect([response.status, response.body['code']]).toEqual([400, code]);
    expect(sent.every(({ isComplete }) => !isComplete)).toBe(true);
  });

  it('of a hundred thousand parts is refused, at the cost per part of one of ten thousand', async () => {
    const costOf = async (count: number) => {
      const body = formOf(Array.from({ length: count }, () => textPart('', 'x')));
      const before = process.cpuUsage();
      const response = await post(body);
      const { user, system } = process.cpuUsage(before);
      expect([response.status, response.body['code']]).toEqual([400, 'MISSING_FILE']);
      return user + system;
    };
    await costOf(10_000);
    const few = Math.max(await costOf(10_000), await costOf(10_000));
    // Ten times as many parts. Comparing each part with all others would be a hundred times the work.
    expect(await costOf(100_000)).toBeLessThan(40 * few);
  });

  it('never breaks the gateway, with any bytes', async () => {
    const good = formOf([textPart(), filePart()]);
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.nat(255), fc.nat(3), async (at, byte, cut) => {
        const body = Buffer.from(good.subarray(0, cut === 0 ? at + 1 : good.length));
        body[at] = byte;
        const { status } = await post(body);
        expect([200, 400]).toContain(status);
      }),
      { numRuns: tries(150) },
    );
  });
});

describe('a form of more bytes than its parts may have', () => {
  const megabytes = (count: number) => Buffer.alloc(count * 1_000_000, 'x');

  it.each([
    [
      'two files of 30 MB each',
      [filePart(megabytes(30)), filePart(megabytes(30)), textPart()],
      ['audio_file', 'REPEATED'],
    ],
    [
      'an unknown part of 60 MB',
      [filePart(), textPart(), textPart('x'.repeat(60_000_000), 'notes')],
      ['notes', 'UNKNOWN_FIELD'],
    ],
    [
      'an unknown file of 60 MB before its parts',
      [filePart(megabytes(60), 'name="b"; filename="b"'), filePart(), textPart()],
      ['b', 'UNKNOWN_FIELD'],
    ],
    ['metadata of 60 MB', [filePart(), textPart('x'.repeat(60_000_000))], ['metadata', 'TOO_LONG']],
  ] as [string, PartSpec[], string[]][])(
    'with %s, but no file over 50 MB, is VALIDATION_ERROR for that part',
    async (_, parts, field) => {
      const response = await postForm(...parts);
      expect([response.status, response.body['code'], fieldsOf(response)]).toEqual([400, 'VALIDATION_ERROR', [field]]);
      expect(sent.every(({ isComplete }) => !isComplete)).toBe(true);
    },
    60_000,
  );

  it('around them is VALIDATION_ERROR', async () => {
    const response = await post(Buffer.concat([formOf([filePart(), textPart()]), megabytes(60)]));
    expect([response.status, response.body['code'], fieldsOf(response)]).toEqual([
      400,
      'VALIDATION_ERROR',
      [['body', 'INVALID']],
    ]);
    expect(sent.every(({ isComplete }) => !isComplete)).toBe(true);
  }, 60_000);

  it('whose file has no name is MISSING_FILE', async () => {
    const response = await postForm(textPart(), filePart(megabytes(60), 'name="audio_file"'));
    expect([response.status, response.body['code'], response.body['details']]).toEqual([
      400,
      'MISSING_FILE',
      { missing: ['audio_file'] },
    ]);
  }, 60_000);

  it('is not read to its end', async () => {
    const { response, written } = await sendEndlessly(formOf([textPart('', 'notes')], '').subarray(0, -2));
    expect(response).toMatch(/^HTTP\/1.1 400 /);
    expect(JSON.parse(response.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { fields: [{ field: 'notes', code: 'UNKNOWN_FIELD' }] },
    });
    expect(written).toBeLessThan(2 * LIMIT);
  }, 60_000);
});

describe('the name of the file', () => {
  it.each([
    ['plain', 'filename="a.wav"', 'a.wav'],
    ['without quotes', 'filename=a.wav', 'a.wav'],
    ['of any script', 'filename="Звонок №1.wav"', 'Звонок №1.wav'],
    ['with semicolons and blanks', 'filename="a; b=c  .wav"', 'a; b=c  .wav'],
    ['with a quote as browsers write it', 'filename="a%22b%22.wav"', 'a"b".wav'],
    ['with a quote as others write it', 'filename="a\\"b.wav"', 'a"b.wav'],
    ['with a percent sign', 'filename="100%.wav"', '100%.wav'],
    ['in the extended form', "filename*=UTF-8''%D0%97%20%22.wav", 'З ".wav'],
    ['in both forms, the extended one last', 'filename="Z.wav"; filename*=utf-8\'\'%D0%97.wav', 'З.wav'],
    ['in both forms, the extended one first', 'filename*=utf-8\'\'%D0%97.wav; filename="Z.wav"', 'З.wav'],
    ['in both forms, with an encoded percent sign', "filename*=utf-8''100%2522.wav; filename=x", '100%22.wav'],
    ['with a path, which is not hidden', 'filename="dir/a.wav"', 'dir/a.wav'],
    ['with a path upwards', 'filename="../../a.wav"', '../../a.wav'],
    ['with a path of Windows', 'filename="C:\\fakepath\\a.wav"', 'C:\\fakepath\\a.wav'],
  ])('%s is forwarded', async (_, disposition, name) => {
    expect((await postForm(filePart('x', `name="audio_file"; ${disposition}`), textPart())).status).toBe(200);
    expect(sent[0]?.file?.name).toBe(name);
  });

  it.each(["filename*=UTF-8''%FF.wav", "filename*=KOI8-R''a.wav", 'filename="a', 'filename="a" b'])(
    'as %s is refused',
    async (disposition) => {
      const response = await postForm(filePart('x', `name="audio_file"; ${disposition}`), textPart());
      expect([response.status, response.body['code']]).toEqual([400, 'MISSING_FILE']);
    },
  );
});

describe('a file over 50 MB', () => {
  const tooLarge = { status: 'error', code: 'FILE_TOO_LARGE', details: { limit_bytes: LIMIT } };

  it('is refused by its declared length before it is sent by a client that asks for that', async () => {
    const response = await rawExchange(edge.url, (socket) => {
      socket.write(head('Content-Length: 60000000', 'Expect: 100-continue'));
      socket.once('data', () => socket.end());
    });
    expect(response).toMatch(/^HTTP\/1.1 400 /);
    expect(JSON.parse(response.split('\r\n\r\n')[1] ?? '')).toMatchObject(tooLarge);
    expect(sent).toEqual([]);
  });

  it('is refused when too many bytes have arrived, before any other fault, without waiting for the rest', async () => {
    const { response, written } = await sendEndlessly(formOf([filePart('')], '').subarray(0, -2));
    expect(response).toMatch(/^HTTP\/1.1 400 /);
    expect(JSON.parse(response.split('\r\n\r\n')[1] ?? '')).toMatchObject(tooLarge);
    expect(written).toBeLessThan(2 * LIMIT);
    await waitUntil(() => sent.length === 1);
    expect(sent[0]?.isComplete).toBe(false);
  }, 60_000);

  it('is refused when too many bytes have arrived, whatever length was declared', async () => {
    const opening = formOf([filePart('')], '').subarray(0, -2);
    const response = await rawExchange(edge.url, (socket) => {
      socket.write(head('Content-Length: 1000000000'));
      socket.write(opening);
      socket.write(Buffer.alloc(LIMIT + 1));
      socket.once('data', () => socket.end());
    });
    expect(response).toMatch(/^HTTP\/1.1 400 /);
    expect(JSON.parse(response.split('\r\n\r\n')[1] ?? '')).toMatchObject(tooLarge);
  }, 60_000);

  it('by one byte is refused, and an ordinary HTTP client gets the error', async () => {
    const response = await postForm(filePart(Buffer.alloc(LIMIT + 1)), textPart());
    expect([response.status, response.body]).toEqual([400, expect.objectContaining(tooLarge)]);
  }, 60_000);

  it('is refused when the audio service refuses it in the middle', async () => {
    edge.recordings.uploadRecording = async (requests) => {
      for await (const request of requests) {
        if (request.part === 'chunk')
          throw new Fault('invalid', 'FILE_TOO_LARGE', 'No.', { details: { limit_bytes: 1 } });
      }
      throw new Error('it ended');
    };
    const response = await postForm(filePart(Buffer.alloc(20_000_000)), textPart());
    expect([response.status, response.body['code']]).toEqual([400, 'FILE_TOO_LARGE']);
  });
});

describe('an error of the audio service', () => {
  it.each([
    ['INVALID_FILE_FORMAT', 'invalid', 400],
    ['INVALID_PHONE_NUMBER', 'invalid', 400],
    ['AUDIO_NOT_STEREO', 'invalid', 400],
    ['UNAVAILABLE', 'unavailable', 503],
    ['INTERNAL', 'internal', 500],
  ] as const)('is passed on: %s', async (code, kind, status) => {
    edge.recordings.uploadRecording = async (requests) => {
      await receive(requests);
      throw new Fault(kind, code, 'Why.', { details: { fields: [] } });
    };
    const response = await postForm(filePart(), textPart());
    expect([response.status, response.body['code']]).toEqual([status, code]);
    if (status === 400)
      expect(response.body).toEqual({ status: 'error', code, message: 'Why.', details: { fields: [] } });
  });

  it('is reported after missing parts of the form', async () => {
    edge.recordings.uploadRecording = async (requests) => {
      await receive(requests);
      throw new Fault('invalid', 'INVALID_FILE_FORMAT', 'No.');
    };
    expect((await postForm(filePart('x', 'name="audio_file"; filename="a.txt"'))).body['code']).toBe('MISSING_FILE');
  });

  it('is UNAVAILABLE when the service is gone, and reaches a client that is still sending', async () => {
    const alone = await openFixture();
    await alone.stopAudio();
    const body = formOf([filePart(Buffer.alloc(20_000_000)), textPart()]);
    const response = await alone.request('POST', path, { body, headers: formType });
    expect([response.status, response.body['code'], response.headers.get('retry-after')]).toEqual([
      503,
      'UNAVAILABLE',
      '1',
    ]);
    expect((await alone.request('GET', '/readyz')).status).toBe(503);
    await alone.close();
  });

  it('may arrive later than other responses', async () => {
    const impatient = await openFixture({ deadlineMs: 100 });
    try {
      impatient.recordings.uploadRecording = async (requests) => {
        await receive(requests);
        await delay(300);
        return { audio_id: 'late', ignored_fields: [] };
      };
      const response = await impatient.request('POST', path, {
        body: formOf([filePart(), textPart()]),
        headers: formType,
      });
      expect(response.body['audio_id']).toBe('late');
    } finally {
      await impatient.close();
    }
  });
});

describe('a client', () => {
  it('that sends Expect: 100-continue gets 100 Continue', async () => {
    const body = formOf([filePart(), textPart()]);
    const response = await rawExchange(edge.url, (socket) => {
      socket.write(head(`Content-Length: ${body.length}`, 'Expect: 100-continue', 'Connection: close'));
      socket.once('data', () => socket.write(body));
    });
    expect(response).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /);
  });

  it('that disconnects in the middle leaves the stream unfinished', async () => {
    const failed = edge.log.filter((line) => line['msg'] === 'a request failed').length;
    const ended = Promise.withResolvers<unknown>();
    edge.recordings.uploadRecording = async (requests) => {
      await receive(requests).catch(ended.resolve);
      return { audio_id: 'a', ignored_fields: [] };
    };
    await rawExchange(edge.url, async (socket) => {
      socket.write(head('Content-Length: 1000000'));
      socket.write(formOf([filePart('x'.repeat(100_000))], ''));
      await waitUntil(() => sent[0]?.order.includes('file_name'));
      socket.destroy();
    });
    expect(await ended.promise).toBeInstanceOf(Error);
    expect(sent).toMatchObject([{ isComplete: false }]);
    await waitUntil(() => edge.log.some((line) => line['route'] === path && line['aborted'] === true));
    expect(edge.log.filter((line) => line['msg'] === 'a request failed')).toHaveLength(failed);
  });

  it('that declares more than it sends leaves the stream unfinished', async () => {
    const ended = Promise.withResolvers<unknown>();
    edge.recordings.uploadRecording = async (requests) => {
      ended.resolve(await receive(requests).catch((error: unknown) => error));
      return { audio_id: 'a', ignored_fields: [] };
    };
    const body = formOf([filePart(), textPart()]);
    await rawExchange(edge.url, async (socket) => {
      socket.write(head(`Content-Length: ${body.length + 10}`));
      socket.write(body);
      await waitUntil(() => sent[0]?.order.includes('metadata'));
      socket.end();
    });
    expect(await ended.promise).toBeInstanceOf(Error);
    expect(sent).toMatchObject([{ isComplete: false }]);
  });

  it('that disconnects after the last byte does not undo the upload', async () => {
    const [gone, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
    edge.recordings.uploadRecording = async (requests, call) => {
      await receive(requests);
      await gone.promise;
      finished.resolve(call.signal.aborted);
      return { audio_id: 'a', ignored_fields: [] };
    };
    const body = formOf([filePart(), textPart()]);
    await rawExchange(edge.url, async (socket) => {
      socket.write(head(`Content-Length: ${body.length}`));
      socket.write(body);
      await waitUntil(() => sent[0]?.isComplete);
      socket.destroy();
    });
    // By the time a later connection is served, the gateway has seen the end of this one.
    await edge.request('GET', '/healthz');
    gone.resolve();
    expect(await finished.promise).toBe(false);
  });

  it('is slowed down by an audio service that does not keep up', async () => {
    const release = Promise.withResolvers<undefined>();
    edge.recordings.uploadRecording = async (requests) => {
      for await (const request of requests) {
        if (request.part === 'chunk') await release.promise;
      }
      return { audio_id: 'a', ignored_fields: [] };
    };
    const body = formOf([filePart(Buffer.alloc(LIMIT)), textPart()]);
    let written = 0;
    const response = rawExchange(edge.url, (socket) => {
      socket.write(head(`Content-Length: ${body.length}`, 'Connection: close'));
      const send = () => {
        const piece = body.subarray(written, written + 1_048_576);
        written += piece.length;
        if (piece.length > 0) socket.write(piece, send);
      };
      send();
    });
    for (let last = 0; last === 0 || last !== written; await delay(100)) last = written;
    expect(written).toBeLessThan(LIMIT * 0.8);
    release.resolve(undefined);
    expect(await response).toMatch(/^HTTP\/1.1 200 /);
  }, 60_000);

  it('may send the next request on the same connection', async () => {
    const body = formOf([filePart(), textPart()]);
    const responses = await rawExchange(edge.url, (socket) => {
      socket.write(head(`Content-Length: ${body.length}`));
      socket.write(body);
      socket.once('data', () => socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'));
    });
    expect(responses.match(/HTTP\/1.1 200 /g)).toHaveLength(2);
  });
});
