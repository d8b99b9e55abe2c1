import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Batch } from '../../deploy/standalone/test/client/api-client.ts';
import { type Client, newFirm } from '../../deploy/standalone/test/client/new-firm.ts';
import { silence } from '../../deploy/standalone/test/client/silence.ts';
import { csvOf, metadataOf } from '../../deploy/standalone/test/client/valid-uploads.ts';
import { startService } from '../../deploy/standalone/test/system/service-process.ts';
import { waitUntil } from '../../packages/testing/wait-until.ts';
import { type ApiDocument, probe, type ProbeFigures } from './probe.ts';

const CALLS = 20;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const AUDIT = '/api/v1/audit?size=100';
/** The requests by which a firm reads its own data. The responses have the ids that others try, and must not change. */
const READS = [
  '/api/v1/calls?size=100',
  '/api/v1/webhooks',
  '/api/v1/scorecards',
  '/api/v1/users',
  '/api/v1/firm',
  AUDIT,
  '/api/v1/calls/batches',
];
/** The same while a user of the firm is refused, which the audit log notes. */
const READS_OF_OWN = READS.filter((path) => path !== AUDIT);
/** These change without anyone's doing. */
const VOLATILE = /"(?:last_used|audio_url|[a-z_]*_url|expires_at|next_at|attempts|last_status)":(?:"[^"]*"|\d+|null)/g;

/** Of the requests, those of an OPERATOR within the firm. */
const SHARE_OF_OPERATOR = 1 / 4;

/**
 * Users and the API key of one firm send requests with everything that belongs to another, until `over`. Then an OPERATOR of
 * the firm does the same with the calls of another operator.
 */
export async function probeFirms(options: {
  requests: number;
  seed: number;
  over: AbortSignal;
  say: (line: string) => void;
}): Promise<ProbeFigures> {
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-probe-'));
  const unlimited = { RATE_LIMIT_PER_FIRM: '0', RATE_LIMIT_PER_ADDRESS: '0', WEBHOOK_ALLOW_PRIVATE: 'true' };
  const service = await startService(directory, unlimited, { detached: true });
  const kill = () => service.child.kill('SIGKILL');
  process.once('exit', kill);
  try {
    const victim = await newFirm(service);
    const operator = await newFirm(service, { role: 'OPERATOR', firm: victim.firmUuid, operatorIds: ['17'] });
    const words = await fill(service, victim);
    const before = await readAll(victim);
    const stranger = await newFirm(service);
    const superuser = await newFirm(service, { role: 'SUPERUSER', firm: stranger.firmUuid });
    const key = await superuser.call<{ api_key: string }>('POST', '/external/api/v1/api-key', {
      firm_uuid: stranger.firmUuid,
    });
    // The default scorecard and its questions have the same ids in every firm.
    const shared = await readAll(stranger);
    const ids = [victim.firmUuid, victim.userUuid, ...(before.match(UUID) ?? [])];
    // First what the operator's name and the transcript contain: that is never sent.
    const secrets = [...new Set([...words, ...ids])].filter((secret) => !shared.includes(secret));
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as ApiDocument;
    const ofOperator = Math.round(options.requests * SHARE_OF_OPERATOR);
    const figures = await probe({
      ...options,
      requests: options.requests - ofOperator,
      url: service.url,
      document,
      probers: [
        { name: 'API key', headers: { 'x-service-api-key': key.api_key }, paths: /^\/external\// },
        { name: 'user', headers: { authorization: `Bearer ${stranger.token}` }, paths: /^/ },
      ],
      tried: secrets.filter((_, index) => index % 3 > 0 && index > 1),
      hidden: secrets.filter((_, index) => index % 3 === 0 || index <= 1),
    });
    const isChanged = (await readAll(victim)) !== before;
    const unrefused = await readAll(victim, READS_OF_OWN);
    const { items } = await victim.call<{ items: { uuid: string }[] }>('GET', '/api/v1/calls?size=100');
    // What only the calls have: the firm's own ids are the OPERATOR's too.
    const ofCalls = [...words.filter((each) => !each.includes('/')), ...items.map(({ uuid }) => uuid)];
    const within = await probe({
      ...options,
      requests: ofOperator,
      url: service.url,
      document,
      probers: [{ name: 'OPERATOR', headers: { authorization: `Bearer ${operator.token}` }, paths: /^/ }],
      tried: ofCalls.filter((_, index) => index % 3 > 0 && index > 1),
      hidden: ofCalls.filter((_, index) => index % 3 === 0 || index <= 1),
    });
    const isChangedWithin = (await readAll(victim, READS_OF_OWN)) !== unrefused;
    const change = { request: 'all', why: 'What the other firm reads of its own has changed.' };
    const changeWithin = { request: 'all of the OPERATOR', why: 'What the firm reads of its own has changed.' };
    const statuses = { ...figures.statuses };
    for (const [status, count] of Object.entries(within.statuses)) statuses[status] = (statuses[status] ?? 0) + count;
    return {
      ...figures,
      requests: figures.requests + within.requests,
      seconds: figures.seconds + within.seconds,
      statuses,
      findings: [
        ...figures.findings,
        ...(isChanged ? [change] : []),
        ...within.findings,
        ...(isChangedWithin ? [changeWithin] : []),
      ],
    };
  } finally {
    process.off('exit', kill);
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Gives the firm one of everything. Returns words that are in its data and nowhere else. */
async function fill(service: Awaited<ReturnType<typeof startService>>, client: Client): Promise<string[]> {
  const word = () => `own${randomUUID().slice(0, 8)}`;
  const [operator, said, campaignName] = [word(), word(), word()];
  const ids = Array.from({ length: CALLS }, word);
  const anonymized_text = `"<operator>Good morning, ${said}.<client>Hello."`;
  const rows = ids.map((partner_call_id) => ({
    partner_call_id,
    operator_name: operator,
    anonymized_text,
    operator_id: '18',
  }));
  const key = await client.upload(csvOf(rows));
  const { data } = await client.call<{ data: Batch }>('POST', '/api/v1/calls/process-upload', { metadata_key: key });
  const recording = new Blob([new Uint8Array(silence(1))]);
  await client.uploadRecording(recording, 'a.wav', metadataOf('a.wav', { partner_call_id: word() }));
  const webhook = { url: 'http://127.0.0.1:9/none', events: ['firm.test'], description: said };
  await client.request('POST', '/api/v1/webhooks', webhook);
  const superuser = await newFirm(service, { role: 'SUPERUSER', firm: client.firmUuid });
  const made = await superuser.call<{ api_key: string }>('POST', '/external/api/v1/api-key', {
    firm_uuid: client.firmUuid,
  });
  const campaign = await fetch(`${service.url}/external/api/v1/call-campaign`, {
    method: 'POST',
    headers: { 'x-service-api-key': made.api_key, 'content-type': 'application/json' },
    body: JSON.stringify({ name: campaignName, external_id: word(), segment_type: 'support' }),
  });
  const { uuid } = (await campaign.json()) as { uuid: string };
  const isDone = async () =>
    (await client.call<{ count: number }>('GET', '/api/v1/calls?status=completed&size=1')).count === CALLS + 1;
  await waitUntil(isDone, { timeoutMs: 120_000, everyMs: 200 });
  return [operator, said, campaignName, key, data.batch_id, uuid, ...ids];
}

async function readAll(client: Client, reads: readonly string[] = READS): Promise<string> {
  const texts: string[] = [];
  for (const path of reads) {
    const { status, body } = await client.request<unknown>('GET', path);
    texts.push(`${path} ${status} ${JSON.stringify(body).replaceAll(VOLATILE, '')}`);
  }
  return texts.join('\n');
}
