import { Fault } from '@call-analysis/fault';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firm, type Fixture, openFixture, tokenFor, user } from '../../test/fixture.ts';

const caller = { firm_uuid: firm.uuid, user_uuid: user };
const session = { metadata_upload_url: '/objects/k?signature=s', metadata_key: 'uz/f/u/a.csv', expires_in: 3600 };
const counts = { accepted: 120, duplicates: 0, rejected: 0, ignored_columns: [] };
const accepted = { batch_uuid: 'b', ...counts };
const rejected_uuid = '00000000-0000-4000-8000-0000000000f1';

let edge: Fixture;

beforeAll(async () => {
  edge = await openFixture();
});

afterAll(() => edge.close());

describe('starting an upload', () => {
  const path = '/api/v1/calls/upload';

  it('of transcripts returns one absolute URL', async () => {
    let asked: unknown;
    edge.calls.openUpload = async (request) => {
      asked = request;
      return session;
    };
    const response = await edge.request('POST', path, { json: { metadata_filename: 'Звонки 1.CSV' } });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      status: 'success',
      data: { ...session, metadata_upload_url: `${edge.url}/objects/k?signature=s` },
    });
    expect(asked).toMatchObject({ caller, metadata_filename: 'Звонки 1.CSV' });
    expect(asked).not.toHaveProperty('audios_filename');
  });

  it('of recordings returns two URLs, and keeps the URL of another server unchanged', async () => {
    const audio = { audio_upload_url: 'https://store/x', audio_key: 'uz/f/u/a.zip' };
    edge.calls.openUpload = async () => ({ ...session, ...audio });
    const response = await edge.request('POST', path, {
      json: { metadata_filename: 'a.csv', audios_filename: 'a.zip' },
    });
    expect(response.body['data']).toEqual({
      ...session,
      metadata_upload_url: `${edge.url}/objects/k?signature=s`,
      ...audio,
    });
  });

  it('uses the public URL when one is configured', async () => {
    const behindProxy = await openFixture({ publicUrl: 'https://calls.example/' });
    behindProxy.calls.openUpload = async () => session;
    const response = await behindProxy.request('POST', path, { json: { metadata_filename: 'a.csv' } });
    expect(response.body['data']).toMatchObject({ metadata_upload_url: 'https://calls.example/objects/k?signature=s' });
    await behindProxy.close();
  });

  it.each([
    'a.txt',
    'csv',
    '',
    '../a.csv',
    'a/b.csv',
    'a\\b.csv',
    'a\n.csv',
    'a\u0085.csv',
    `${'я'.repeat(99)}.csv`,
    `${'a'.repeat(197)}.csv`,
  ])('refuses the file name %j', async (metadata_filename) => {
    const response = await edge.request('POST', path, { json: { metadata_filename } });
    expect(response.status).toBe(400);
    expect(response.body['details']).toMatchObject({ fields: [{ field: 'metadata_filename', code: 'INVALID' }] });
  });

  it('accepts names that consist of the extension', async () => {
    let asked: unknown;
    edge.calls.openUpload = async (request) => {
      asked = request;
      return { metadata_upload_url: 'https://store/y', metadata_key: 'uz/f/u/.CSV', expires_in: 3600 };
    };
    const json = { metadata_filename: '.CSV', audios_filename: '.zip' };
    expect((await edge.request('POST', path, { json })).status).toBe(200);
    expect(asked).toMatchObject(json);
  });

  it('reports all faults together', async () => {
    const response = await edge.request('POST', path, { json: { audios_filename: 'a.rar', metadata_file: 'a.csv' } });
    const { fields } = response.body['details'] as { fields: { field: string; code: string }[] };
    expect(fields.map(({ field, code }) => [field, code])).toEqual([
      ['metadata_filename', 'REQUIRED'],
      ['audios_filename', 'INVALID'],
      ['metadata_file', 'UNKNOWN_FIELD'],
    ]);
    expect(response.body['message']).toContain('did you mean metadata_filename?');
  });
});

describe('processing an upload', () => {
  const path = '/api/v1/calls/process-upload';

  it('returns a message and the counts', async () => {
    let asked: unknown;
    edge.calls.processUpload = async (request) => {
      asked = request;
      return accepted;
    };
    const response = await edge.request('POST', path, { json: { metadata_key: 'uz/f/u/a.csv' } });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      status: 'success',
      data: { message: '120 calls were validated and queued for processing.', batch_id: 'b', ...counts },
    });
    expect(asked).toMatchObject({ caller, metadata_key: 'uz/f/u/a.csv', on_error: 'reject' });
  });

  it.each([
    [1, 0, 0, '1 call was validated and queued for processing.'],
    [0, 2, 1, '0 calls were validated and queued for processing; 2 calls were uploaded before; 1 row was refused.'],
  ])('reports in words %d accepted, %d duplicates, %d rejected', async (accepts, duplicates, rejected, message) => {
    edge.calls.processUpload = async () => ({ ...accepted, accepted: accepts, duplicates, rejected });
    const response = await edge.request('POST', path, { json: { metadata_key: 'k', on_error: 'skip' } });
    expect(response.body['data']).toMatchObject({ message });
  });

  it.each([
    [
      { unnamed_files: 1 },
      '3 calls were uploaded before; 1 file of the archive is not listed in the CSV and was ignored.',
    ],
    [
      { unnamed_files: 2, ended_duplicates: 1 },
      '3 calls were uploaded before; 2 files of the archive are not listed in the CSV and were ignored. 1 of those ' +
        'uploaded before failed permanently or was canceled. To upload such a call again, first erase it (DELETE ' +
        '/api/v1/calls/{uuid}).',
    ],
    [
      { duplicates: 10_001, ended_duplicates: 2 },
      '10001 calls were uploaded before. At least 2 of those uploaded before failed permanently or were canceled. To ' +
        'upload such a call again, first erase it (DELETE /api/v1/calls/{uuid}).',
    ],
  ])(
    'reports ignored files, and calls that must be erased before they can be uploaded again: %j',
    async (counts, rest) => {
      edge.calls.processUpload = async () => ({ ...accepted, accepted: 0, duplicates: 3, ...counts });
      const response = await edge.request('POST', path, { json: { metadata_key: 'k', on_error: 'skip' } });
      const message = `0 calls were validated and queued for processing; ${rest}`;
      expect(response.body['data']).toMatchObject({ message });
      expect(response.body['data']).not.toHaveProperty('ended_duplicates');
    },
  );

  it('waits longer than for other responses', async () => {
    const impatient = await openFixture({ deadlineMs: 100 });
    try {
      impatient.calls.processUpload = () => new Promise((resolve) => setTimeout(resolve, 300, accepted));
      expect((await impatient.request('POST', path, { json: { metadata_key: 'k' } })).status).toBe(200);
    } finally {
      await impatient.close();
    }
  });

  it('continues when the client disconnects', async () => {
    const finished = Promise.withResolvers<boolean>();
    const [begun, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    edge.calls.processUpload = async (_request, call) => {
      begun.resolve();
      await gone.promise;
      finished.resolve(call.signal.aborted);
      return accepted;
    };
    const leaving = new AbortController();
    const asking = fetch(edge.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokenFor('ADMIN')}`, 'content-type': 'application/json' },
      body: '{"metadata_key":"k"}',
      signal: leaving.signal,
    });
    await begun.promise;
    leaving.abort();
    await expect(asking).rejects.toThrow();
    // By the time a later connection is served, the gateway has seen the end of this one.
    await edge.request('GET', '/healthz');
    gone.resolve();
    expect(await finished.promise).toBe(false);
  });

  it('returns the URL of the refused rows, but not their uuid', async () => {
    const details = { rows: 3, valid: 2, invalid: 1, faults: [], faults_truncated: false };
    edge.calls.processUpload = async () => {
      throw new Fault('invalid', 'VALIDATION_FAILED', 'Bad.', { details: { ...details, rejected_uuid } });
    };
    const response = await edge.request('POST', path, { json: { metadata_key: 'k' } });
    expect(response.status).toBe(400);
    expect(response.body).toEqual({
      status: 'error',
      code: 'VALIDATION_FAILED',
      message: 'Bad.',
      details: { ...details, rejected_csv_url: `${edge.url}/api/v1/calls/rejected/${rejected_uuid}` },
    });
    edge.calls.processUpload = async () => {
      throw new Fault('invalid', 'VALIDATION_FAILED', 'Bad.', { details });
    };
    const without = await edge.request('POST', path, { json: { metadata_key: 'k' } });
    expect(without.body['details']).toEqual({ ...details, rejected_csv_url: null });
  });

  it.each([
    [{ metadata_key: 'k', audio_key: 'z' }, 'audio_key', 'UNKNOWN_FIELD'],
    [{ metadata_key: '' }, 'metadata_key', 'INVALID'],
    [{ metadata_key: 'k', on_error: 'ignore' }, 'on_error', 'INVALID'],
    [{ metadata_key: 'k', audios_key: null }, 'audios_key', 'INVALID'],
    [{ metadata_key: 'a\0' }, 'metadata_key', 'INVALID'],
  ])('refuses %j', async (json, field, code) => {
    const response = await edge.request('POST', path, { json });
    expect(response.body['details']).toMatchObject({ fields: [{ field, code }] });
  });
});
