import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { administrator, type Batch, type Client, newFirm } from '../../test/client/new-firm.ts';
import { eventually, fetchWhenAvailable } from '../../test/client/retry.ts';
import { header, row } from '../../test/client/valid-uploads.ts';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';

const samples = new URL('../../../../samples/', import.meta.url);
const good = (id: string) => row({ partner_call_id: id });

interface Item {
  uuid: string;
  status: string;
  partner_call_id: string | null;
  language: string;
  score: number;
}
interface Processed {
  status: string;
  code?: string;
  details?: {
    faults: { row: number | null; column: string | null; code: string }[];
    rejected_csv_url: string;
    [name: string]: unknown;
  };
  data: Batch & { message: string; ignored_columns: string[] };
}

let service: SystemUnderTest;
let client: Client;

async function finished(by: Client, batch: string): Promise<Batch> {
  let last: Batch | undefined;
  await eventually(async () => {
    last = await by.call<Batch>('GET', `/api/v1/calls/batches/${batch}`);
    return last.finished_at !== null;
  });
  return last!;
}

function process(by: Client, key: string, more: object = {}) {
  return by.request<Processed>('POST', '/api/v1/calls/process-upload', { metadata_key: key, ...more });
}

interface Detail {
  analysis: {
    score: number;
    sections: {
      questions: {
        not_applicable: boolean;
        decided_by: string;
        evidence_absent: boolean;
        evidence: { utterance: number; quote: string; start_char: number; end_char: number }[];
      }[];
    }[];
  };
  transcript: { utterances: { text: string }[] };
  history: { status: string }[];
}

export function describeCalls(system: () => SystemUnderTest): void {
  beforeAll(async () => {
    service = system();
    client = await newFirm(service);
  });

  describe('a client that uploads transcripts', () => {
    it('sees every sample call completed, scored and explained by quotes from the transcript', async () => {
      const key = await client.upload(await readFile(new URL('transcripts.csv', samples)));
      const { body } = await process(client, key);
      const batch = await finished(client, body.data.batch_id);
      expect(batch.by_status).toEqual({ completed: batch.accepted });
      const { items } = await client.listCalls<Item>(`batch=${batch.batch_id}&size=100`);
      expect(items).toHaveLength(batch.accepted);
      for (const { uuid } of items) {
        const call = await client.call<Item & Detail>('GET', `/api/v1/calls/${uuid}`);
        expect(call).toMatchObject({
          status: 'completed',
          outcome: 'scored',
          source: 'transcription',
          failure: null,
          audio: null,
        });
        expect(call.score).toBe(call.analysis.score);
        const answers = call.analysis.sections.flatMap((section) => section.questions);
        expect(answers.length).toBeGreaterThanOrEqual(10);
        for (const answer of answers) {
          // An open question is for a language model.
          const isAnswered = !answer.not_applicable && answer.decided_by !== 'model';
          if (isAnswered) expect(answer.evidence.length > 0 || answer.evidence_absent).toBe(true);
          for (const quote of answer.evidence) {
            const text = call.transcript.utterances[quote.utterance]!.text;
            expect(text.slice(quote.start_char, quote.end_char)).toBe(quote.quote);
          }
        }
        expect(call.history.map((entry) => entry.status)).toEqual(['queued', 'completed']);
      }
    });

    it('gets the same batch for the same keys, also when it sends the requests at the same time', async () => {
      const key = await client.upload(header + good('twice-1') + good('twice-2'));
      const answers = await Promise.all([process(client, key), process(client, key), process(client, key)]);
      const again = await process(client, key);
      expect(new Set([...answers, again].map(({ body }) => body.data.batch_id)).size).toBe(1);
      expect(again.body.data).toMatchObject({ accepted: 2, duplicates: 0, rejected: 0 });
    });

    it('gets every fault with its row in one response, and nothing is accepted', async () => {
      const countCalls = async () => (await client.call<{ count: number }>('GET', '/api/v1/calls')).count;
      const before = await countCalls();
      const key = await client.upload(await readFile(new URL('rejected-example.csv', samples)));
      const refused = await process(client, key);
      expect(refused.status).toBe(400);
      expect(refused.body).toMatchObject({
        status: 'error',
        code: 'VALIDATION_FAILED',
        details: { rows: 8, valid: 3, invalid: 5, faults_truncated: false },
      });
      expect(refused.body.details!.faults.map(({ row, code }) => [row, code])).toEqual([
        [3, 'INVALID_PHONE_NUMBER'],
        [5, 'UNKNOWN_SEGMENT_TYPE'],
        [6, 'MISSING_ROLE_TAG'],
        [7, 'EMPTY_UTTERANCE'],
        [8, 'INVALID_DATETIME'],
      ]);
      expect(await countCalls()).toBe(before);
    });

    it('can download the rejected rows as a CSV, correct them and upload them again without duplicates', async () => {
      const bad = good('resent-2').replace('+998901234567', '12');
      const key = await client.upload(header + good('resent-1') + bad);
      const skipped = await process(client, key, { on_error: 'skip' });
      expect(skipped.body.data).toMatchObject({ accepted: 1, rejected: 1 });
      const { rejected_csv_url } = await finished(client, skipped.body.data.batch_id);
      const csv = await (
        await fetchWhenAvailable(rejected_csv_url!, { headers: { authorization: `Bearer ${client.token}` } })
      ).text();
      expect(csv).toContain('INVALID_PHONE_NUMBER');
      const corrected = await process(
        client,
        await client.upload(csv.replace(/^12,/m, '+998901234567,') + good('resent-1')),
      );
      expect(corrected.body.data).toMatchObject({ accepted: 1, duplicates: 1, rejected: 0, ignored_columns: [] });
    });

    it('processes exactly the validated bytes, even if others are put to the URL afterwards', async () => {
      const opened = await client.call<{ data: { metadata_upload_url: string; metadata_key: string } }>(
        'POST',
        '/api/v1/calls/upload',
        { metadata_filename: 'звонки №1.csv' },
      );
      const put = (text: string) => fetchWhenAvailable(opened.data.metadata_upload_url, { method: 'PUT', body: text });
      expect((await put(header + good('frozen-1'))).status).toBe(200);
      const { body } = await process(client, opened.data.metadata_key);
      expect((await put(header + good('frozen-2') + good('frozen-3'))).status).toBe(200);
      expect((await process(client, opened.data.metadata_key)).body.data).toMatchObject({
        batch_id: body.data.batch_id,
        accepted: 1,
      });
    });

    it('may use one file name for two uploads', async () => {
      const [first, second] = await Promise.all([
        client.upload(header + good('name-1'), 'same.csv'),
        client.upload(header + good('name-2'), 'same.csv'),
      ]);
      expect(first).not.toBe(second);
      expect((await process(client, first)).body.data.accepted).toBe(1);
      expect((await process(client, second)).body.data.accepted).toBe(1);
    });

    it.each([
      ['an empty file', '', 'EMPTY_FILE'],
      ['a header alone', header, 'EMPTY_FILE'],
      ['a missing column', header.replace('duration,', ''), 'MISSING_COLUMN'],
      ['a column twice', header.replace('\n', ',Duration\n') + good('x'), 'DUPLICATE_COLUMN'],
      ['an unclosed quote', `${header}"+99890`, 'INVALID_CSV'],
      ['a NUL', header + good('x\0'), 'INVALID_CSV'],
      ['UTF-16', Buffer.from(`\uFEFF${header}`, 'utf16le'), 'INVALID_ENCODING'],
      [
        'Windows-1251',
        Buffer.concat([Buffer.from(header), Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x0a])]),
        'INVALID_ENCODING',
      ],
    ])('gets the code for %s', async (_, bytes, code) => {
      const answer = await process(client, await client.upload(bytes as string));
      expect([answer.status, answer.body.code]).toEqual([400, code]);
    });

    it('cannot process keys of another firm, keys that were never issued, or keys without a file', async () => {
      const other = await newFirm(service);
      const theirs = await other.upload(header + good('theirs'));
      expect(await process(client, theirs)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
      const opened = await client.call<{ data: { metadata_key: string } }>('POST', '/api/v1/calls/upload', {
        metadata_filename: 'never-put.csv',
      });
      expect(await process(client, opened.data.metadata_key)).toMatchObject({
        status: 400,
        body: { code: 'UPLOAD_NOT_FOUND' },
      });
      expect(await process(client, opened.data.metadata_key.replace('never', 'other'))).toMatchObject({
        body: { code: 'UPLOAD_NOT_FOUND' },
      });
      expect(await process(client, opened.data.metadata_key, { audios_key: opened.data.metadata_key })).toMatchObject({
        body: { code: 'UPLOAD_KIND_MISMATCH' },
      });
    });
  });

  describe('two firms', () => {
    it('never see each other’s calls, batches or rejected rows', async () => {
      const other = await newFirm(service);
      const key = await client.upload(header + good('secret') + good('secret'));
      const { body } = await process(client, key, { on_error: 'skip' });
      const { items } = await client.call<{ items: Item[] }>('GET', '/api/v1/calls?partner_call_id=secret');
      const batch = await finished(client, body.data.batch_id);
      const paths = [
        `/api/v1/calls/${items[0]!.uuid}`,
        `/api/v1/calls/batches/${body.data.batch_id}`,
        new URL(batch.rejected_csv_url!).pathname,
      ];
      for (const path of paths) {
        expect((await other.request('GET', path)).status).toBe(404);
        expect((await client.request('GET', path)).status).toBe(200);
      }
      expect(await other.call('GET', '/api/v1/calls?partner_call_id=secret')).toMatchObject({ count: 0, items: [] });
      expect((await other.request('POST', `/api/v1/calls/${items[0]!.uuid}/retry`)).status).toBe(404);
      // The same id in another firm is another call.
      const own = await process(other, await other.upload(header + good('secret')));
      expect(own.body.data).toMatchObject({ accepted: 1, duplicates: 0 });
    });
  });

  describe('an API key', () => {
    interface Issued {
      readonly api_key: string;
      readonly key_prefix: string;
    }

    const create = (root: Client) =>
      root.request<Issued>('POST', '/external/api/v1/api-key', { firm_uuid: root.firmUuid });
    const use = (key: string) =>
      fetchWhenAvailable(`${service.url}/external/api/v1/call-campaign`, { headers: { 'x-service-api-key': key } });

    async function keyUuid(root: Client): Promise<string> {
      const { items } = await root.call<{ items: { uuid: string; firm: { uuid: string } }[] }>(
        'GET',
        '/external/api/v1/api-key?size=100',
      );
      return items.find((item) => item.firm.uuid === root.firmUuid)!.uuid;
    }

    it('is issued once, works, is listed without its secret, and is refused after its deletion', async () => {
      const root = await newFirm(service, { role: 'SUPERUSER' });
      const both = await Promise.all([create(root), create(root)]);
      expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
      const { api_key, key_prefix } = both.find(({ status }) => status === 201)!.body;
      expect(api_key).toMatch(/^[0-9a-f]{7}\$[0-9A-Za-z]{43}$/);
      expect(key_prefix).toBe(root.firmUuid.slice(0, 7));
      const first = await use(api_key);
      expect([first.status, await first.json()]).toEqual([200, { count: 0, items: [] }]);

      const listed = await root.call<{ items: { uuid: string; firm: { uuid: string } }[] }>(
        'GET',
        '/external/api/v1/api-key?size=100',
      );
      const own = listed.items.find((item) => item.firm.uuid === root.firmUuid)!;
      expect(JSON.stringify(own)).not.toContain(api_key.split('$')[1]);
      expect((await root.request('DELETE', `/external/api/v1/api-key/${own.uuid}`)).status).toBe(204);
      await eventually(async () => (await use(api_key)).status === 403);
      expect((await root.request('DELETE', `/external/api/v1/api-key/${own.uuid}`)).status).toBe(404);
      expect((await create(root)).status).toBe(201);
    });

    it('that was just used is refused soon after its deletion', async () => {
      const root = await newFirm(service, { role: 'SUPERUSER' });
      const { api_key } = (await create(root)).body;
      const uuid = await keyUuid(root);
      expect((await use(api_key)).status).toBe(200);
      expect((await root.request('DELETE', `/external/api/v1/api-key/${uuid}`)).status).toBe(204);
      await eventually(async () => (await use(api_key)).status === 403);
    });

    it('is managed only by the roles that may, and every action is in the audit log', async () => {
      const engineer = await newFirm(service, { role: 'WORKFLOW_ENGINEER' });
      const created = await engineer.request('POST', '/external/api/v1/api-key', { firm_uuid: engineer.firmUuid });
      expect(created.status).toBe(201);
      expect((await engineer.request('GET', '/external/api/v1/api-key')).status).toBe(403);
      expect((await client.request('POST', '/external/api/v1/api-key', { firm_uuid: client.firmUuid })).status).toBe(
        403,
      );
      const admin = administrator(service.administration);
      const entries = await Array.fromAsync(admin.listAudit({ firm_uuid: engineer.firmUuid }, 100));
      admin.close();
      expect(entries.map(({ action }) => action)).toEqual(
        expect.arrayContaining(['api_key.created', 'user.created', 'firm.created']),
      );
      expect(entries.find(({ action }) => action === 'api_key.created')).toMatchObject({
        actor: engineer.userUuid,
        request_id: created.headers.get('x-request-id'),
      });
    });
  });
}
