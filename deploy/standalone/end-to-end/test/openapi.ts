import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { administrator, type Client, newFirm } from '../../test/client/new-firm.ts';
import { type OpenApi, openApiOf } from '../../test/client/openapi-document.ts';
import { eventually, fetchWhenAvailable } from '../../test/client/retry.ts';
import { silence } from '../../test/client/silence.ts';
import { csvOf, metadataOf } from '../../test/client/valid-uploads.ts';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';

type Fields = Record<string, unknown>;

const nowhere = '00000000-0000-4000-8000-00000000dead';
const callsOf = (...phones: string[]) => csvOf(phones.map((client_phone_number) => ({ client_phone_number })));

let service: SystemUnderTest;
let admin: Client;
let superuser: Client;
let apiKey: string;
let document: OpenApi;

const json = (method: string, body: unknown): RequestInit => ({
  method,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});

/** Sends a request as a user who may do it. The path is the operation's, with `params` filled in. */
async function ask(
  operation: string,
  params: Record<string, string> = {},
  sent: unknown = undefined,
  extra: Fields = {},
) {
  const [method = '', pattern = ''] = operation.split(' ');
  const {
    query = '',
    headers = {},
    redirect = 'follow',
  } = extra as { query?: string; headers?: Record<string, string>; redirect?: 'follow' | 'manual' };
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? nowhere);
  const user = pattern.startsWith('/external/api/v1/api-key') ? superuser : admin;
  const isByKey = pattern.startsWith('/external/') && user === admin;
  const credentials: Record<string, string> = isByKey
    ? { 'x-service-api-key': apiKey }
    : { authorization: `Bearer ${user.token}` };
  const init =
    sent === undefined || sent instanceof FormData
      ? { method, ...(sent !== undefined && { body: sent }) }
      : json(method, sent);
  const answer = await document.fetch(operation, path + query, {
    ...init,
    redirect,
    headers: { ...credentials, ...(init.headers as Record<string, string> | undefined), ...headers },
  });
  return { ...answer, body: answer.body as Fields };
}

/** Uses a presigned URL, which leads to the service or to a store that has no OpenAPI document. */
async function transfer(operation: string, url: string, init: RequestInit = {}): Promise<void> {
  const isOurs = url.startsWith(`${service.url}/`);
  if (isOurs) await document.fetch(operation, url, init);
  else expect((await fetchWhenAvailable(url, { method: operation.split(' ')[0]!, ...init })).ok).toBe(true);
}

async function upload(prefix: string, uuid: Record<string, string>, csv: string, on_error = 'skip') {
  const opened = await ask(`POST ${prefix}/calls/upload`, uuid, { metadata_filename: 'calls.csv' });
  const { metadata_upload_url: url, metadata_key } = opened.body['data'] as {
    metadata_upload_url: string;
    metadata_key: string;
  };
  await transfer('PUT /objects/{key}', url, { body: csv, headers: { 'content-type': 'text/csv' } });
  return ask(`POST ${prefix}/calls/process-upload`, uuid, { metadata_key, on_error });
}

function form(recording: Buffer): FormData {
  const data = new FormData();
  data.append('metadata', JSON.stringify(metadataOf('a.wav')));
  data.append('audio_file', new Blob([new Uint8Array(recording)]), 'a.wav');
  return data;
}

/** Seconds of speech: transcribing a longer recording costs more than all other requests. */
const SPEECH = await readFile(new URL('../../../../services/transcription/fixtures/two-voices.wav', import.meta.url));

const section = {
  name: 'Offer',
  questions: [
    {
      text: 'Did the operator greet the client?',
      weight: 1,
      choices: [
        { label: 'Yes', points: 1, auto_fail: false },
        { label: 'No', points: 0, auto_fail: false },
      ],
      decided: {
        by: 'rule',
        applies: { spoke: ['operator'], heard: null },
        cases: [
          {
            heard: {
              role: 'operator',
              where: 'anywhere',
              source: { phrases: { en: ['good morning'] } },
              even_negated: false,
              at_least: 1,
            },
            answer: 'Yes',
          },
        ],
        otherwise: 'No',
      },
    },
  ],
};

async function askAboutFirmAndUsers(): Promise<void> {
  await ask('GET /api/v1/firm');
  await ask('PATCH /api/v1/firm', {}, { time_zone: 'Asia/Tashkent', retention: { audio_days: 90, calls_days: null } });
  const created = await ask('POST /api/v1/users', {}, { name: 'Aziza', role: 'ADMIN' });
  const added = { uuid: String(created.body['uuid']) };
  await ask('GET /api/v1/users');
  await ask('GET /api/v1/users/{uuid}', added);
  await ask('PATCH /api/v1/users/{uuid}', added, { name: 'Aziza Karimova' });
  await ask('POST /api/v1/users/{uuid}/console-link', added);
  await ask('DELETE /api/v1/users/{uuid}', added);
}

/** Whether the operation is the same route for an API key as another one for tokens. */
function isTwin(operation: string): boolean {
  const forTokens = operation.replace('/external/api/v1/', '/api/v1/');
  return forTokens !== operation && document.operations.includes(forTokens);
}

async function judge(uuid: string): Promise<void> {
  const { body } = await ask('GET /api/v1/calls/{uuid}', { uuid });
  const { uuid: analysis_uuid } = body['analysis'] as { uuid: string };
  await ask('PUT /api/v1/calls/{uuid}/review', { uuid }, { analysis_uuid, answers: [], comment: 'Right.', done: true });
  await ask('GET /api/v1/calls/{uuid}/review', { uuid });
  await ask('PATCH /api/v1/calls/{uuid}/review', { uuid }, { analysis_uuid, answers: [], done: false });
  await workAtDesk(uuid, body['analysis'] as { sections: { questions: { uuid: string; answer: string | null }[] }[] });
  await ask('DELETE /api/v1/calls/{uuid}/review', { uuid });
  const comment = await ask('POST /api/v1/calls/{uuid}/comments', { uuid }, { text: 'A good start.', utterance: 0 });
  await ask('GET /api/v1/calls/{uuid}/comments', { uuid });
  await ask('DELETE /api/v1/calls/{uuid}/comments/{comment_uuid}', {
    uuid,
    comment_uuid: String(comment.body['uuid']),
  });
}

async function workAtDesk(
  uuid: string,
  { sections }: { sections: { questions: { uuid: string; answer: string | null }[] }[] },
): Promise<void> {
  const { uuid: question_uuid, answer } = sections
    .flatMap(({ questions }) => questions)
    .find((each) => each.answer !== null)!;
  const made = await ask('POST /api/v1/views', {}, { name: 'Low scores', query: { score_max: 60 } });
  const view = { uuid: String(made.body['uuid']) };
  await ask('GET /api/v1/views');
  await ask('GET /api/v1/views/{uuid}', view);
  await ask('PATCH /api/v1/views/{uuid}', view, { shared: true });
  await ask('DELETE /api/v1/views/{uuid}', view);
  await ask('POST /api/v1/calls/{uuid}/acknowledge', { uuid });
  await ask('PUT /api/v1/calls/{uuid}/assignment', { uuid }, { user_uuid: admin.userUuid });
  const mention = { text: 'Look', mentions: [admin.userUuid] };
  const mentioning = await ask('POST /api/v1/calls/{uuid}/comments', { uuid }, mention);
  await ask('GET /api/v1/inbox');
  await ask('DELETE /api/v1/inbox/mentions/{comment_uuid}', { comment_uuid: String(mentioning.body['uuid']) });
  const rule = { name: 'Two of each', filter: { score_max: '60' }, per: 'operator', count: 2, every: 'week' };
  const ruled = await ask('POST /api/v1/sampling-rules', {}, rule);
  const ruleUuid = { uuid: String(ruled.body['uuid']) };
  await ask('GET /api/v1/sampling-rules');
  await ask('GET /api/v1/sampling-rules/{uuid}', ruleUuid);
  await ask('GET /api/v1/sampling-rules/{uuid}/samples', ruleUuid);
  await ask('PATCH /api/v1/sampling-rules/{uuid}', ruleUuid, { share: 0.1, enabled: false });
  await ask('DELETE /api/v1/sampling-rules/{uuid}', ruleUuid);
  const taken = await ask('POST /api/v1/review-queue/next', {}, {});
  await ask('GET /api/v1/review-queue');
  const { uuid: call_uuid } = taken.body['call'] as { uuid: string };
  await ask('DELETE /api/v1/review-queue/leases/{call_uuid}', { call_uuid });
  await ask('GET /api/v1/people');
  await ask('GET /api/v1/calls/{uuid}/desk', { uuid });
  const opened = await ask('POST /api/v1/calls/{uuid}/disputes', { uuid }, { question_uuid, reason: 'Listen again.' });
  const dispute = { uuid: String(opened.body['uuid']) };
  await ask('GET /api/v1/disputes');
  await ask('PATCH /api/v1/disputes/{uuid}', dispute, { status: 'rejected', comment: 'It is right.' });
  const started = { name: 'October', call_uuids: [uuid], user_uuids: [admin.userUuid] };
  const { body } = await ask('POST /api/v1/calibrations', {}, started);
  const calibration = { uuid: String(body['uuid']) };
  await ask('GET /api/v1/calibrations');
  await ask(
    'PUT /api/v1/calibrations/{uuid}/calls/{call_uuid}',
    { ...calibration, call_uuid: uuid },
    {
      answers: [{ question_uuid, answer }],
    },
  );
  await ask('GET /api/v1/calibrations/{uuid}', calibration);
  await ask('POST /api/v1/calibrations/{uuid}/close', calibration);
}

async function receiveEvents(): Promise<void> {
  const PATH = '/api/v1/webhooks';
  // Nothing listens on the discard port. The delivery is not awaited.
  const made = await ask(`POST ${PATH}`, {}, { url: 'http://127.0.0.1:9/events', events: ['call.completed'] });
  const webhook = { uuid: String(made.body['uuid']) };
  await ask(`GET ${PATH}`);
  await ask(`GET ${PATH}/{uuid}`, webhook);
  await ask(`PATCH ${PATH}/{uuid}`, webhook, { description: 'Ours.' });
  await ask(`POST ${PATH}/{uuid}/rotate-secret`, webhook);
  await ask(`POST ${PATH}/{uuid}/test`, webhook);
  const deliveries = await ask(`GET ${PATH}/{uuid}/deliveries`, webhook);
  const [delivery] = deliveries.body['items'] as { uuid: string }[];
  await ask(`POST ${PATH}/{uuid}/deliveries/{delivery_uuid}/retry`, {
    ...webhook,
    delivery_uuid: delivery?.uuid ?? '',
  });
  await ask(`POST ${PATH}/{uuid}/replay`, webhook, { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' });
  await ask(`DELETE ${PATH}/{uuid}`, webhook);
}

export function describeOpenapi(system: () => SystemUnderTest): void {
  beforeAll(async () => {
    service = system();
    admin = await newFirm(service);
    superuser = await newFirm(service, { role: 'SUPERUSER', firm: admin.firmUuid });
    document = await openApiOf(service.url);
  });

  describe('every response is described in the OpenAPI document', () => {
    it('when requests succeed, on every route', async () => {
      await Promise.all(
        ['GET /healthz', 'GET /readyz', 'GET /metrics', 'GET /openapi.json', 'GET /asyncapi.json', 'GET /docs'].map(
          (each) => ask(each),
        ),
      );
      for (const asset of ['page.js', 'swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']) {
        await ask('GET /docs/{asset}', { asset });
      }
      const key = await ask('POST /external/api/v1/api-key', {}, { firm_uuid: admin.firmUuid });
      apiKey = String(key.body['api_key']);

      const batch = await upload('/api/v1', {}, callsOf('+998901234567', '+998901234568', 'wrong'));
      const { batch_id } = batch.body['data'] as { batch_id: string };
      await ask('GET /api/v1/calls/batches');
      const shown = await ask('GET /api/v1/calls/batches/{batch_id}', { batch_id });
      await ask('GET /api/v1/calls/rejected/{uuid}', {
        uuid: String(shown.body['rejected_csv_url']).split('/').at(-1) ?? '',
      });
      await eventually(async () => {
        const calls = await ask('GET /api/v1/calls', {}, undefined, { query: `?batch=${batch_id}&status=completed` });
        return calls.body['count'] === 2;
      });
      const calls = await ask('GET /api/v1/calls', {}, undefined, { query: `?batch=${batch_id}&size=1` });
      await ask('GET /api/v1/calls', {}, undefined, {
        query: `?batch=${batch_id}&size=1&cursor=${String(calls.body['next_cursor'])}`,
      });
      const [call] = calls.body['items'] as { uuid: string }[];
      const uuid = call?.uuid ?? '';
      await ask('GET /api/v1/calls/{uuid}', { uuid });
      await ask('POST /api/v1/calls/{uuid}/analyze', { uuid });
      await eventually(async () => {
        const { body } = await ask('GET /api/v1/calls/{uuid}', { uuid });
        return body['status'] === 'completed' && (body['analyses'] as unknown[]).length === 2;
      });
      await judge(uuid);
      await ask('GET /api/v1/calls/{uuid}/transcript', { uuid }, undefined, { query: '?format=txt' });
      await ask('GET /api/v1/calls/export', {}, undefined, { query: `?format=csv&batch=${batch_id}` });
      await ask('POST /api/v1/calls/export', {}, { call_uuids: [uuid], format: 'ndjson' });
      await ask('POST /api/v1/calls/analyze', {}, { call_uuids: [uuid], dry_run: true });
      await ask('GET /api/v1/statistics', {}, undefined, { query: '?group_by=day' });
      await ask('GET /api/v1/words');
      await ask('POST /mcp', {}, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
      await ask('GET /external/api/v1/calls', {}, undefined, { query: `?batch=${batch_id}` });
      const job = await ask('POST /api/v1/calls/analyze', {}, { filter: { batch: batch_id } });
      const id = String(job.body['job_id']);
      await ask('GET /api/v1/jobs/{id}', { id });
      await ask('POST /api/v1/jobs/{id}/cancel', { id });
      await ask('DELETE /api/v1/calls/{uuid}', { uuid });
      await ask('DELETE /api/v1/calls', {}, undefined, { query: '?client_phone_number=%2B998901234568&dry_run=true' });

      const uploaded = await ask('POST /api/v1/audio/upload', {}, form(SPEECH));
      const detail = await ask('GET /api/v1/calls/{uuid}', { uuid: String(uploaded.body['audio_id']) });
      const { url } = detail.body['audio'] as { url: string };
      await transfer('GET /objects/{key}', url);
      await transfer('GET /objects/{key}', url, { headers: { range: 'bytes=0-9' } });
      const recording = { uuid: String(uploaded.body['audio_id']) };
      await ask('GET /api/v1/calls/{uuid}/playback', recording);
      await eventually(async () => {
        const { body } = await ask('GET /api/v1/calls/{uuid}', recording);
        return body['status'] === 'completed';
      });
      await ask('POST /api/v1/calls/{uuid}/swap-channels', recording);

      const made = await ask('POST /api/v1/scorecards', {}, { name: 'Ours', sections: [section] });
      const scorecard = { uuid: String(made.body['uuid']) };
      await ask('GET /api/v1/scorecards');
      await ask('GET /api/v1/scorecards/default');
      await ask('GET /api/v1/scorecards/{uuid}', scorecard);
      const ifMatch = { 'if-match': made.headers.get('etag') ?? '' };
      await ask(
        'PUT /api/v1/scorecards/{uuid}',
        scorecard,
        { name: 'Ours, revised', sections: [section] },
        { headers: ifMatch },
      );
      await ask('GET /api/v1/scorecards/{uuid}/revisions', scorecard);
      await ask('POST /api/v1/scorecards/{uuid}/try', scorecard, { call_uuids: [recording.uuid] });
      await ask('POST /api/v1/scorecards/{uuid}/activate', scorecard);
      await ask('GET /api/v1/scorecards/{uuid}/agreement', scorecard);
      await ask('GET /api/v1/scorecards/{uuid}/agreement/calls', scorecard, undefined, {
        query: `?question=${randomUUID()}`,
      });

      await ask('GET /api/v1/usage', {}, undefined, {
        query: '?from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z&group_by=month',
      });
      await ask('PUT /api/v1/budget', {}, { monthly: null, when_spent: 'wait' });
      await ask('GET /api/v1/budget');
      await receiveEvents();
      await ask('GET /', {}, undefined, { headers: { accept: 'text/html' }, redirect: 'manual' });
      await ask('GET /console');
      await ask('GET /console/{path}', { path: 'calls' });

      const PATH = '/external/api/v1/call-campaign';
      const campaign = { uuid: String((await ask(`POST ${PATH}`, {}, { name: 'Autumn' })).body['uuid']) };
      await ask(`GET ${PATH}`);
      await ask(`PATCH ${PATH}/{uuid}`, campaign, { description: 'Renewals.' });
      await ask(`POST ${PATH}/{uuid}/start`, campaign);
      const taken = await upload(`${PATH}/{uuid}`, campaign, callsOf('+998901234569', 'wrong'));
      expect(taken.status).toBe(200);
      const refused = await upload(`${PATH}/{uuid}`, campaign, callsOf('wrong'), 'reject');
      const { rejected_csv_url: file } = refused.body['details'] as { rejected_csv_url: string };
      await ask(`GET ${PATH}/rejected/{uuid}`, { uuid: file.split('/').at(-1) ?? '' });
      await ask(`POST ${PATH}/{uuid}/audio/upload`, campaign, form(silence(1)));
      const theirs = await ask(`GET ${PATH}/{uuid}/calls`, campaign);
      const [first] = theirs.body['items'] as { uuid: string }[];
      await ask(`GET ${PATH}/{uuid}/calls/{call_uuid}`, { ...campaign, call_uuid: first?.uuid ?? '' });
      await ask(`POST ${PATH}/{uuid}/pause`, campaign);
      await ask(`POST ${PATH}/{uuid}/start`, campaign);
      await ask(`POST ${PATH}/{uuid}/complete`, campaign);
      await ask(`GET ${PATH}/{uuid}`, campaign);
      const other = { uuid: String((await ask(`POST ${PATH}`, {}, { name: 'Winter' })).body['uuid']) };
      await ask(`POST ${PATH}/{uuid}/cancel`, other);

      const keys = await ask('GET /external/api/v1/api-key', {}, undefined, { query: '?size=100' });
      const issued = keys.body['items'] as { uuid: string; firm: { uuid: string } }[];
      const item = issued.find(({ firm }) => firm.uuid === admin.firmUuid);
      await ask('POST /external/api/v1/api-key/{api_key_uuid}/rotate', { api_key_uuid: item?.uuid ?? '' }, {});
      const rotated = await ask('GET /external/api/v1/api-key', {}, undefined, { query: '?size=100' });
      const successor = (rotated.body['items'] as typeof issued).find(({ firm }) => firm.uuid === admin.firmUuid);
      await ask('DELETE /external/api/v1/api-key/{api_key_uuid}', { api_key_uuid: successor?.uuid ?? '' });
      await ask('GET /api/v1/audit');
      await askAboutFirmAndUsers();

      const administration = administrator(service.administration);
      const link = await administration.signInLink(admin.userUuid, service.url).finally(() => administration.close());
      const code = link?.link.split('#code=')[1];
      const signedIn = await ask('POST /api/v1/session', {}, { code });
      const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
      await ask('GET /api/v1/session/methods');
      await ask('POST /api/v1/session/refresh', {}, undefined, { headers: { cookie } });
      await ask('DELETE /api/v1/session', {}, undefined, { headers: { cookie } });
      // A retry needs a call that failed with a retryable error.
      const left = document.operations.filter((each) => !document.answered.has(each) && !isTwin(each));
      expect(left).toEqual(['POST /api/v1/calls/{uuid}/retry']);
    });

    it('when requests are wrong, on every route', async () => {
      apiKey = String((await ask('POST /external/api/v1/api-key', {}, { firm_uuid: admin.firmUuid })).body['api_key']);
      for (const operation of document.operations) {
        const [method = ''] = operation.split(' ');
        const isRead = method === 'GET' || method === 'DELETE';
        const bad: Parameters<typeof ask>[] = [
          [operation],
          [operation, {}, undefined, { query: '?nonsense=1&size=0&page=x' }],
          [operation, {}, undefined, { headers: { authorization: 'Bearer a.b.c', 'x-service-api-key': '1234567$x' } }],
          [operation, {}, undefined, { headers: { authorization: 'Basic x', 'x-service-api-key': 'x' } }],
          ...(isRead
            ? []
            : ([
                [operation, {}, {}],
                [operation, {}, []],
                [operation, {}, { metadata_filename: 1, metadata_key: 2, name: '', firm_uuid: null, extra: true }],
                [operation, {}, { name: 'x'.repeat(1_100_000) }],
                [operation, {}, undefined, { headers: { 'content-type': 'application/json' } }],
                [operation, {}, new FormData()],
              ] satisfies Parameters<typeof ask>[])),
        ];
        for (const request of bad) {
          const { status } = await ask(...request);
          expect([operation, status < 500]).toEqual([operation, true]);
        }
      }
    });
  });
}
