import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { waitUntil } from '@call-analysis/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { firm, type Fixture, openFixture, tokenFor, user } from './test/fixture.ts';

const otherFirm = '1a2b3c4d-0000-4000-8000-000000000002';
const otherUser = '1a2b3c4d-0000-4000-8000-00000000000b';
const other = { authorization: `Bearer ${tokenFor('ADMIN', { sub: otherUser, firm: otherFirm })}` };

let edge: Fixture;
let sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await edge.close();
});

async function open(concurrency: Partial<NonNullable<Parameters<typeof openFixture>[0]>['concurrency']>) {
  edge = await openFixture({
    // A request that gives up while a busy machine prepares the next one would change who has which turn.
    concurrency: {
      requestsPerFirm: 0,
      requests: 0,
      uploadsPerFirm: 0,
      uploads: 0,
      maxWaitMs: 300_000,
      ...concurrency,
    },
  });
  edge.keys.findUser = async ({ user_uuid }) => {
    const firm_uuid = { [user]: firm.uuid, [otherUser]: otherFirm }[user_uuid];
    if (firm_uuid === undefined) return {};
    return {
      user: {
        uuid: user_uuid,
        firm_uuid,
        name: 'User',
        role: 'ADMIN',
        web_api_only: false,
        operator_ids: [],
        created_at: '2026-10-01T04:00:00.000Z',
      },
    };
  };
}

/** Lists that stay in progress until they are released, by firm. */
function heldLists() {
  const begun: string[] = [];
  const release = Promise.withResolvers<void>();
  edge.calls.listCalls = async ({ caller }) => {
    begun.push(caller!.firm_uuid);
    await release.promise;
    return { count: 0, items: [] };
  };
  return { begun, release: release.resolve };
}

/** A request whose body does not end, or a part of it. */
async function held(path: string, headers: readonly string[], body: string): Promise<Socket & { received: string }> {
  const { hostname, port } = new URL(edge.url);
  const socket = Object.assign(connect(Number(port), hostname), { received: '' });
  sockets.push(socket);
  socket.on('error', () => {});
  socket.on('data', (bytes: Buffer) => (socket.received += bytes.toString('latin1')));
  await once(socket, 'connect');
  socket.write(`${path} HTTP/1.1\r\nHost: x\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
  return socket;
}

const begunForm = [
  '--b',
  'Content-Disposition: form-data; name="audio_file"; filename="a.wav"',
  '',
  'x'.repeat(1000),
].join('\r\n');

function heldForm(authorization = `Bearer ${tokenFor('ADMIN')}`) {
  return held(
    'POST /api/v1/audio/upload',
    [`Authorization: ${authorization}`, 'Content-Type: multipart/form-data; boundary=b', 'Content-Length: 100000'],
    begunForm,
  );
}

async function heldPut(key: string) {
  const signed = await edge.objects.presignPut(key, { expiresInSeconds: 3600, maxBytes: 1_000_000 });
  const { pathname, search } = new URL(signed, edge.url);
  return held(`PUT ${pathname}${search}`, ['Content-Length: 100000'], 'begun');
}

describe('a firm with more requests in progress than it may have', () => {
  it('waits for its own, while another firm is served immediately', async () => {
    await open({ requestsPerFirm: 2 });
    const { begun, release } = heldLists();
    const flood = Array.from({ length: 6 }, () => edge.request('GET', '/api/v1/calls'));
    await waitUntil(() => begun.length === 2);
    const quiet = edge.request('GET', '/api/v1/calls', { headers: other });
    await waitUntil(() => begun.length === 3);
    expect(begun).toEqual([firm.uuid, firm.uuid, otherFirm]);
    release();
    expect((await quiet).status).toBe(200);
    expect((await Promise.all(flood)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  });

  it('gets the next turn after other firms that wait', async () => {
    await open({ requests: 1 });
    const order: string[] = [];
    const first = Promise.withResolvers<void>();
    edge.calls.listCalls = async ({ caller }) => {
      order.push(caller!.firm_uuid);
      if (order.length === 1) await first.promise;
      return { count: 0, items: [] };
    };
    const flood = [edge.request('GET', '/api/v1/calls')];
    await waitUntil(() => order.length === 1);
    for (let request = 0; request < 3; request++) flood.push(edge.request('GET', '/api/v1/calls'));
    const waiting = async () =>
      /call_analysis_http_requests_waiting\{lane="requests"\} (\d+)/.exec((await metrics()).text)?.[1];
    const metrics = () => edge.request('GET', '/metrics');
    await waitUntil(async () => (await waiting()) === '3');
    const quiet = edge.request('GET', '/api/v1/calls', { headers: other });
    await waitUntil(async () => (await waiting()) === '4');
    first.resolve();
    await Promise.all([...flood, quiet]);
    expect(order.slice(1, 3)).toContain(otherFirm);
  });

  it('may have refused requests and errors as often as it likes: they end their turns', async () => {
    await open({ requestsPerFirm: 1, uploadsPerFirm: 1 });
    edge.calls.listCalls = async () => {
      throw new Error('a bug');
    };
    for (let request = 0; request < 3; request++) expect((await edge.request('GET', '/api/v1/calls')).status).toBe(500);
    for (let request = 0; request < 3; request++) {
      const body = JSON.stringify({ metadata_filename: 1, filler: ' '.repeat(100_000) });
      const headers = { 'content-type': 'application/json' };
      expect((await edge.request('POST', '/api/v1/calls/upload', { body, headers })).status).toBe(400);
    }
    const left = await held('GET /api/v1/calls', [`Authorization: Bearer ${tokenFor('ADMIN')}`], '');
    left.destroy();
    edge.calls.listCalls = async () => ({ count: 0, items: [] });
    expect((await edge.request('GET', '/api/v1/calls')).status).toBe(200);
  });
});

describe('uploads at the same time', () => {
  it('are bounded by firm, forms and PUTs together; the others wait, and begin when one has ended', async () => {
    await open({ uploadsPerFirm: 2 });
    let begun = 0;
    edge.recordings.uploadRecording = async (requests) => {
      begun++;
      for await (const _ of requests);
      return { audio_id: 'x', ignored_fields: [] };
    };
    const first = await heldForm();
    await waitUntil(() => begun === 1);
    const put = await heldPut(`uz/${firm.uuid}/${user}/a.csv`);
    const inProgress = async () =>
      /call_analysis_http_requests_in_progress\{lane="uploads"\} (\d+)/.exec(
        (await edge.request('GET', '/metrics')).text,
      )?.[1];
    await waitUntil(async () => (await inProgress()) === '2');
    await heldForm();
    await heldForm(other.authorization);
    await waitUntil(() => begun === 2);
    expect(await inProgress()).toBe('3');
    first.destroy();
    await waitUntil(() => begun === 3);
    expect(put.received).toBe('');
  });

  it('beyond those that may wait are refused with the time to wait, before their bytes are read', async () => {
    await open({ uploadsPerFirm: 1, uploads: 1 });
    edge.recordings.uploadRecording = async (requests) => {
      for await (const _ of requests);
      return { audio_id: 'x', ignored_fields: [] };
    };
    const held = await Promise.all(Array.from({ length: 70 }, () => heldForm()));
    const refused = await waitUntil(() => {
      const answered = held.filter(({ received }) => received !== '');
      return answered.length === 5 && answered;
    });
    for (const { received } of refused) {
      expect(received).toMatch(/^HTTP\/1\.1 429 /);
      expect(received.toLowerCase()).toContain('retry-after: 1');
      expect(received).toContain('"code":"RATE_LIMITED"');
    }
    expect((await edge.request('GET', '/api/v1/calls')).status).not.toBe(429);
  });
});
