// npm run fuzz: gives the ids of one firm to another.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Batch } from '../../deploy/standalone/test/client/api-client.ts';
import { type Client, newFirm } from '../../deploy/standalone/test/client/new-firm.ts';
import { silence } from '../../deploy/standalone/test/client/silence.ts';
import { csvOf, metadataOf } from '../../deploy/standalone/test/client/valid-uploads.ts';
import { startService } from '../../deploy/standalone/test/system/service-process.ts';
import { endEarly } from '../../packages/testing/end-early.ts';
import { waitUntil } from '../../packages/testing/wait-until.ts';
import { type ApiDocument, type Figures, probe } from './probe.ts';

const help = `Usage: npm run fuzz -- firms [--runs N] [--seed N]

Sends requests of one firm with the ids and words of another, to every operation, at a service of its own: no response may show
anything of the other firm, and nothing of it may change. A quarter of them are an OPERATOR's, with the calls of another operator of
the firm. Prints its figures as JSON; progress goes to standard error. Exits with 0 if that holds. SIGINT (Ctrl-C) and SIGTERM end
the requests, and those that were sent are compared; a second one stops without figures.

  --runs N     how many requests; default 20000
  --seed N     repeats the requests; default: a random one, which is printed`;

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

const { runs, seed } = read();
const say = (line: string) => console.error(line);
const over = endEarly('the requests', say);
const figures: Figures = { requests: 0, operations: 0, statuses: {}, findings: [] };
const began = performance.now();
await probeFirms();
const holds = figures.findings.length === 0;
const seconds = Math.round((performance.now() - began) / 100) / 10;
console.log(JSON.stringify({ target: 'firms', ...figures, seed, seconds, holds }, null, 2));
process.exitCode = holds ? 0 : 1;

function read(): { runs: number; seed: number } {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        runs: { type: 'string', default: '20000' },
        seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) {
      console.log(help);
      process.exit(0);
    }
    if (positionals.join() !== 'firms') throw new Error('What is to be fuzzed?');
    for (const option of ['runs', 'seed'] as const)
      if (!/^\d{1,9}$/.test(values[option]))
        throw new Error(`--${option} must be a whole number, not "${values[option]}".`);
    return { runs: Number(values.runs), seed: Number(values.seed) };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${help}`);
    process.exit(2);
  }
}

type Service = Awaited<ReturnType<typeof startService>>;

/**
 * Users and the API key of one firm send requests with everything that belongs to another, until `over`. Then an OPERATOR of
 * the firm does the same with the calls of another operator.
 */
async function probeFirms(): Promise<void> {
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
    const key = await newKey(service, stranger.firmUuid);
    // The default scorecard and its questions have the same ids in every firm.
    const shared = await readAll(stranger);
    const ids = [victim.firmUuid, victim.userUuid, ...(before.match(UUID) ?? [])];
    // First what the operator's name and the transcript contain: that is never sent.
    const secrets = [...new Set([...words, ...ids])].filter((secret) => !shared.includes(secret));
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as ApiDocument;
    const ofOperator = Math.round(runs * SHARE_OF_OPERATOR);
    const options = { url: service.url, document, seed, over, say };
    await probe(figures, {
      ...options,
      requests: runs - ofOperator,
      probers: [
        { name: 'API key', headers: { 'x-service-api-key': key }, paths: /^\/external\// },
        { name: 'user', headers: { authorization: `Bearer ${stranger.token}` }, paths: /^/ },
      ],
      secrets,
    });
    if ((await readAll(victim)) !== before)
      figures.findings.push({ request: 'all', why: 'What the other firm reads of its own has changed.' });
    const unrefused = await readAll(victim, READS_OF_OWN);
    const { items } = await victim.call<{ items: { uuid: string }[] }>('GET', '/api/v1/calls?size=100');
    await probe(figures, {
      ...options,
      requests: ofOperator,
      probers: [{ name: 'OPERATOR', headers: { authorization: `Bearer ${operator.token}` }, paths: /^/ }],
      // What only the calls have: the firm's own ids are the OPERATOR's too.
      secrets: [...words.filter((each) => !each.includes('/')), ...items.map(({ uuid }) => uuid)],
    });
    if ((await readAll(victim, READS_OF_OWN)) !== unrefused)
      figures.findings.push({ request: 'all of the OPERATOR', why: 'What the firm reads of its own has changed.' });
  } finally {
    process.off('exit', kill);
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function newKey(service: Service, firm: string): Promise<string> {
  const superuser = await newFirm(service, { role: 'SUPERUSER', firm });
  const { api_key } = await superuser.call<{ api_key: string }>('POST', '/external/api/v1/api-key', {
    firm_uuid: firm,
  });
  return api_key;
}

/** Gives the firm one of everything. Returns words that are in its data and nowhere else. */
async function fill(service: Service, client: Client): Promise<string[]> {
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
  const campaign = await fetch(`${service.url}/external/api/v1/call-campaign`, {
    method: 'POST',
    headers: { 'x-service-api-key': await newKey(service, client.firmUuid), 'content-type': 'application/json' },
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
