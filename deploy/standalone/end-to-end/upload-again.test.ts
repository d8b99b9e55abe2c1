import { writeZip } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Batch, type Client, newFirm } from '../test/client/new-firm.ts';
import { eventually, fetchWhenAvailable } from '../test/client/retry.ts';
import { silence } from '../test/client/silence.ts';
import { csvOf, metadataOf, recordingsCsvOf } from '../test/client/valid-uploads.ts';
import { startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';

type Accepted = Batch & { message: string };
interface Item {
  readonly uuid: string;
  readonly status: string;
  readonly operator_name: string;
  readonly failure: { readonly code: string; readonly message: string; readonly retryable: boolean } | null;
}
interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly details: { readonly rejected_csv_url: string };
}

const ROWS = 20;
const wav = silence(1);
const recording = new Blob([new Uint8Array(wav)]);

let service: SystemUnderTest;
let client: Client;
beforeAll(async () => {
  service = await startSystemUnderTest({ CSV_MAX_ROWS: String(ROWS) });
  client = await newFirm(service);
});
afterAll(() => service?.stop());

const process = async (keys: object) =>
  (await client.call<{ data: Accepted }>('POST', '/api/v1/calls/process-upload', keys)).data;

const refused = async (keys: object) => {
  const { status, body } = await client.request<Refusal>('POST', '/api/v1/calls/process-upload', keys);
  expect(status).toBe(400);
  return body;
};

const find = async (id: string) =>
  (await client.call<{ items: Item[] }>('GET', `/api/v1/calls?partner_call_id=${id}`)).items[0];

describe('a call whose recording could not be extracted from its archive', () => {
  const values = { partner_call_id: 'corrupt' };
  const csv = recordingsCsvOf([metadataOf('a.wav', values)]);

  it('can be uploaded again after it is erased, as every response on the way says', async () => {
    const broken = writeZip([{ name: 'a.wav', data: wav, central: { crc32: 1 } }]).bytes;
    expect(await process(await client.uploadBatch(csv, new Uint8Array(broken)))).toMatchObject({ accepted: 1 });
    const failed = await eventually(async () => {
      const call = await find('corrupt');
      return call?.status === 'failed' && call;
    });
    const erase = `DELETE /api/v1/calls/${failed.uuid}`;
    expect(failed.failure).toMatchObject({
      code: 'ENTRY_CORRUPT',
      retryable: false,
      message: expect.stringContaining(erase),
    });

    const intact = new Uint8Array(writeZip([{ name: 'a.wav', data: wav }]).bytes);
    const { accepted, duplicates, message } = await process(await client.uploadBatch(csv, intact));
    expect([accepted, duplicates]).toEqual([0, 1]);
    expect(message).toBe(
      '0 calls were validated and queued for processing; 1 call was uploaded before. 1 of those uploaded before failed ' +
        'permanently or was canceled. To upload such a call again, first erase it (DELETE /api/v1/calls/{uuid}).',
    );
    const single = await client.uploadRecording<Refusal>(recording, 'b.wav', metadataOf('b.wav', values));
    expect([single.status, single.body.message]).toEqual([400, expect.stringContaining(erase)]);

    expect((await client.request('DELETE', `/api/v1/calls/${failed.uuid}`)).status).toBe(200);
    expect(await process(await client.uploadBatch(csv, intact))).toMatchObject({ accepted: 1, duplicates: 0 });
    await eventually(async () => (await find('corrupt'))?.status === 'completed');
  });
});

describe('a recording that is uploaded again', () => {
  it('with other metadata gets a response that nothing was changed', async () => {
    const send = (operator_name: string) =>
      client.uploadRecording<{ audio_id: string; message: string }>(
        recording,
        'c.wav',
        metadataOf('c.wav', { partner_call_id: 'again', operator_name }),
      );
    const first = await send('Ann');
    expect(first.body.message).toBe('The recording was accepted and is queued for processing.');
    const again = await send('Bek');
    expect([again.status, again.body]).toEqual([
      200,
      {
        status: 'ok',
        audio_id: first.body.audio_id,
        message: 'This recording was uploaded before. Nothing was changed.',
      },
    ]);
    expect((await find('again'))?.operator_name).toBe('Ann');
  });
});

describe('an upload', () => {
  it('may have file names that are only an extension', async () => {
    const names = { metadata_filename: '.csv', audios_filename: '.zip' };
    const { data } = await client.call<{ data: Record<string, string> }>('POST', '/api/v1/calls/upload', names);
    const put = async (url: string, body: string | Uint8Array<ArrayBuffer>) =>
      expect((await fetchWhenAvailable(url, { method: 'PUT', body })).status).toBe(200);
    await put(data['metadata_upload_url']!, recordingsCsvOf([metadataOf('d.wav')]));
    await put(
      data['audio_upload_url']!,
      new Uint8Array(
        writeZip([
          { name: 'd.wav', data: wav },
          { name: 'e.wav', data: wav },
        ]).bytes,
      ),
    );
    const keys = { metadata_key: data['metadata_key'], audios_key: data['audio_key'], on_error: 'skip' };
    expect(await process(keys)).toMatchObject({
      accepted: 1,
      message:
        '1 call was validated and queued for processing; 1 file of the archive is not listed in the CSV and was ignored.',
    });
  });

  it('with more rows than the configured limit is refused', async () => {
    const rows = Array.from({ length: ROWS + 1 }, () => ({}));
    expect(await process({ metadata_key: await client.upload(csvOf(rows.slice(1))) })).toMatchObject({
      accepted: ROWS,
    });
    expect(await refused({ metadata_key: await client.upload(csvOf(rows)) })).toMatchObject({
      code: 'TOO_MANY_ROWS',
      message: expect.stringContaining(String(ROWS)),
    });
  });

  it('gets its rejected rows in the format of its file, also after a restart of the service', async () => {
    const csv = csvOf([{ duration: 'long', anonymized_text: '<client>Hello' }]).replaceAll(',', ';');
    const { details } = await refused({ metadata_key: await client.upload(`\ufeffsep=;\n${csv}`) });
    await service.kill('ingest');
    await service.revive();
    const path = new URL(details.rejected_csv_url).pathname;
    const rejected = await eventually(async () => {
      const headers = { authorization: `Bearer ${client.token}` };
      const response = await fetchWhenAvailable(service.url + path, { headers }).catch(() => null);
      return response?.status === 200 && Buffer.from(await response.arrayBuffer()).toString();
    });
    const [mark, header, row] = rejected.split('\r\n');
    expect(mark).toBe('\ufeffsep=;');
    expect(header).toBe(`${csv.split('\n')[0]};reject_reason`);
    expect(row).toMatch(/^\+998901234567;Ann;long;<client>Hello;2026-10-01T09:00:00;support;;"?INVALID_DURATION: /);
  });
});
