import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from '@jest/globals';
import { CALLERS, dial, implement, OF_GATEWAY, type RpcCaller, serve, type Server } from '../packages/rpc/index.ts';
import { newAuthority } from '../packages/rpc/test/certificates.ts';
import { createLog } from '../packages/runtime/index.ts';
import { analysis, audio, desk, ingest, keyManagement, webhooks } from '../proto/index.ts';
import { callers as ofAnalysis } from '../services/analysis/grpc.ts';
import { callers as ofIngest } from '../services/ingest/grpc.ts';
import { dialScorecards } from '../services/ingest/reviews/scorecards.ts';
import { callers as ofKeyManagement } from '../services/key-management/grpc.ts';

type Table = Readonly<Record<string, readonly RpcCaller[]>>;

/** Without its types: every method is tried by every caller. */
const services: Readonly<Record<string, { service: typeof keyManagement; table: Table }>> = {
  'key-management': { service: keyManagement, table: tableOf(keyManagement, ofKeyManagement) },
  ingest: { service: ingest as never, table: tableOf(ingest, ofIngest) },
  desk: { service: desk as never, table: tableOf(desk) },
  audio: { service: audio as never, table: tableOf(audio) },
  analysis: { service: analysis as never, table: tableOf(analysis, ofAnalysis) },
  webhooks: { service: webhooks as never, table: tableOf(webhooks) },
};

/** Every method of a service, with those that may call it. */
function tableOf(service: object, others: Partial<Table> = {}): Table {
  const methods = Object.keys(service).map((name) => `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`);
  return { ...Object.fromEntries(methods.map((method) => [method, OF_GATEWAY])), ...(others as Table) };
}

const ours = newAuthority('ours');
const theirs = newAuthority('theirs');
const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

/** The service, with handlers that note their names and fail. */
async function serveNotes(name: string): Promise<{ server: Server; reached: Set<string> }> {
  const { service, table } = services[name]!;
  const reached = new Set<string>();
  const handlers = Object.keys(table).map((method) => [
    method,
    () => {
      reached.add(method);
      throw new Error('The method was reached.');
    },
  ]);
  const server = await serve({
    address: 'localhost:0',
    services: [implement(service, table as never, Object.fromEntries(handlers) as never)],
    log: createLog({ name, level: 'silent' }),
    tls: ours.issue([name, 'localhost']),
  });
  closing.push(() => server.stop(0));
  return { server, reached };
}

/** The methods that a caller may call, and the error of the others. */
async function callAll(
  name: string,
  { server, reached }: Awaited<ReturnType<typeof serveNotes>>,
  tls: object | undefined,
) {
  const { service, table } = services[name]!;
  reached.clear();
  const client = dial(service, server.address, { name, tls: tls as never });
  const said = new Set<string>();
  const asked = Object.keys(table).map(async (method) => {
    const call = Reflect.get(client, method) as (request: unknown) => Promise<unknown> | AsyncIterable<unknown>;
    // Every shape of method takes it: a message without fields, and a stream without messages.
    const answer = call(Object.assign((async function* () {})(), {}));
    await (answer instanceof Promise ? answer : answer[Symbol.asyncIterator]().next()).then(
      () => said.add('answered'),
      (error: Error) => said.add(error.message.replace(/^.*: \w+ is refused: /, '').replace(/, and only .*/, '')),
    );
  });
  await Promise.all(asked);
  client.close();
  return { reached: [...reached].toSorted(), said: [...said] };
}

describe.each(Object.keys(services))('of the methods of %s', (name) => {
  it('each caller reaches those of its table and no other', async () => {
    const served = await serveNotes(name);
    const { table } = services[name]!;
    for (const caller of CALLERS) {
      const allowed = Object.keys(table).filter((method) => table[method]!.includes(caller));
      const { reached, said } = await callAll(name, served, ours.issue([caller]));
      expect({ caller, reached }).toEqual({ caller, reached: allowed.toSorted() });
      const refused = allowed.length < Object.keys(table).length;
      expect(said.filter((each) => each !== 'Something went wrong.')).toEqual(
        refused ? [`the certificate is of ${caller}`] : [],
      );
    }
  });
});

it.each([
  ['without a certificate', undefined],
  ['with a certificate of another authority', { ...theirs.issue(['gateway']), ca: ours.ca }],
  ['with a certificate of no service', ours.issue(['somebody'])],
])('no method of any service is reached %s', async (_, tls) => {
  // At the same time: a call without a connection waits for one.
  await Promise.all(
    Object.keys(services).map(async (name) => {
      const { reached, said } = await callAll(name, await serveNotes(name), tls);
      expect({ name, reached }).toEqual({ name, reached: [] });
      expect(said).not.toContain('answered');
    }),
  );
});

describe('the tables of callers', () => {
  it('let only the admin command make firms and issue and revoke tokens', () => {
    const admins = ['createFirm', 'addSegmentType', 'recordToken', 'revokeTokens'] as const;
    for (const method of admins) expect(ofKeyManagement[method]).toEqual(['admin']);
  });

  it('let ingest ask analysis for all that it needs of a scorecard', async () => {
    const { server, reached } = await serveNotes('analysis');
    const scorecards = dialScorecards(server.address, { tls: ours.issue(['ingest']) });
    closing.push(() => scorecards.close());
    const owner = { firmUuid: randomUUID(), userUuid: randomUUID() };
    const analysis = { scorecard: { uuid: randomUUID(), revision: 1 }, sections: [], auto_failed: false };
    await scorecards.requireActive(owner, randomUUID()).catch(() => {});
    await scorecards.addUp(owner, analysis as never, []).catch(() => {});
    expect([...reached].toSorted()).toEqual(['addUp', 'getScorecard']);
  });
});
