import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Batch, type Client, newFirm } from '../../test/client/new-firm.ts';
import { eventually } from '../../test/client/retry.ts';
import { csvOf } from '../../test/client/valid-uploads.ts';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';

interface Item {
  readonly uuid: string;
  readonly operator_id: string | null;
}

interface Page<Each = Item> {
  readonly count: number;
  readonly items: readonly Each[];
  readonly next_cursor: string | null;
}

interface Detail {
  readonly analysis: { uuid: string; sections: { questions: { uuid: string }[] }[] };
}

interface Sums {
  readonly items: readonly { key: string | null; calls: number }[];
  readonly total: { calls: number };
}

const said = (words: string) => `"<operator>Good morning, this is the office.<client>${words}"`;
/** Of each operator three calls, one with a word that no other call has, and one call of nobody. */
const ROWS = ['17', '17', '17', '18', '18', '18', ''].map((operator_id, at) => ({
  partner_call_id: `c-${at}`,
  operator_name: operator_id === '' ? 'Nobody' : `Operator ${operator_id}`,
  anonymized_text: said(['a papaya', 'my order', 'my order', 'a mango', 'my order', 'my order', 'my order'][at]!),
  operator_id,
}));

/** What each role gets where nothing is wrong with the request. `[uuid]` is a call of the OPERATOR. */
const TABLE: readonly (readonly [method: string, path: string, body: object | undefined, ...expected: number[]])[] = [
  // ADMIN, WORKFLOW_ENGINEER, SUPERUSER, REVIEWER, OPERATOR
  ['GET', '/api/v1/calls', undefined, 200, 200, 200, 200, 200],
  ['GET', '/api/v1/calls/[uuid]', undefined, 200, 200, 200, 200, 200],
  ['GET', '/api/v1/calls/[uuid]/transcript', undefined, 200, 200, 200, 200, 200],
  ['GET', '/api/v1/calls/[uuid]/comments', undefined, 200, 200, 200, 200, 403],
  ['POST', '/api/v1/calls/[uuid]/comments', { text: 'x' }, 201, 201, 201, 201, 403],
  ['POST', '/api/v1/calls/[uuid]/retry', undefined, 409, 409, 409, 403, 403],
  ['POST', '/api/v1/calls/[uuid]/swap-channels', undefined, 409, 409, 409, 403, 403],
  ['PUT', '/api/v1/calls/[uuid]/assignment', { user_uuid: null }, 200, 200, 200, 200, 403],
  ['GET', '/api/v1/calls/export', undefined, 200, 200, 200, 200, 403],
  ['GET', '/api/v1/calls/batches', undefined, 200, 200, 200, 403, 403],
  ['GET', '/api/v1/statistics?group_by=day', undefined, 200, 200, 200, 200, 200],
  ['GET', '/api/v1/scorecards', undefined, 200, 403, 403, 403, 403],
  ['GET', '/api/v1/views', undefined, 200, 200, 200, 200, 403],
  ['POST', '/api/v1/views', { name: 'Mine', query: {} }, 201, 201, 201, 201, 403],
  ['POST', '/api/v1/views', { name: 'All', query: {}, shared: true }, 201, 201, 201, 403, 403],
  ['GET', '/api/v1/disputes', undefined, 200, 200, 200, 200, 200],
  ['GET', '/api/v1/calibrations', undefined, 200, 200, 200, 200, 403],
  ['GET', '/api/v1/inbox', undefined, 200, 200, 200, 200, 200],
  ['GET', '/api/v1/people', undefined, 200, 200, 200, 200, 200],
  ['GET', '/api/v1/calls/[uuid]/desk', undefined, 200, 200, 200, 200, 200],
  ['GET', '/api/v1/firm', undefined, 200, 200, 200, 200, 200],
  ['PATCH', '/api/v1/firm', {}, 200, 403, 403, 403, 403],
  ['GET', '/api/v1/users', undefined, 200, 403, 200, 403, 403],
  ['GET', '/api/v1/audit', undefined, 200, 403, 403, 403, 403],
  ['GET', '/api/v1/usage', undefined, 200, 403, 403, 403, 403],
  ['GET', '/api/v1/budget', undefined, 200, 403, 403, 403, 403],
  ['GET', '/api/v1/webhooks', undefined, 200, 403, 403, 403, 403],
  ['GET', '/external/api/v1/api-key', undefined, 403, 403, 200, 403, 403],
  ['POST', '/api/v1/calls/upload', { metadata_filename: 'a.csv' }, 200, 200, 200, 403, 403],
  ['DELETE', '/api/v1/calls?client_phone_number=998000000000', undefined, 200, 403, 403, 403, 403],
];

export function describeRoles(system: () => SystemUnderTest): void {
  let admin: Client;
  let reviewer: Client;
  /** Of the operator id 17. */
  let operator: Client;
  let own: readonly Item[];
  let others: readonly Item[];

  const path = (rest: string, call = own[0]!) => `/api/v1/calls/${call.uuid}${rest}`;
  const statusOf = async (client: Client, ...request: Parameters<Client['request']>) =>
    (await client.request(...request)).status;

  beforeAll(async () => {
    admin = await newFirm(system());
    reviewer = await newFirm(system(), { firm: admin.firmUuid, role: 'REVIEWER' });
    operator = await newFirm(system(), { firm: admin.firmUuid, role: 'OPERATOR', operatorIds: ['17'] });
    const key = await admin.upload(csvOf(ROWS));
    const { body } = await admin.request('POST', '/api/v1/calls/process-upload', { metadata_key: key });
    const { batch_id } = (body as { data: { batch_id: string } }).data;
    await eventually(async () => {
      const batch = await admin.call<Batch>('GET', `/api/v1/calls/batches/${batch_id}`);
      return batch.finished_at !== null;
    });
    const { items } = await admin.listCalls<Item>('size=100');
    own = items.filter(({ operator_id }) => operator_id === '17');
    others = items.filter(({ operator_id }) => operator_id !== '17');
    expect([own.length, others.length]).toEqual([3, 4]);
  });

  it('each role may do what is its own, and everything else is 403', async () => {
    const roles = ['ADMIN', 'WORKFLOW_ENGINEER', 'SUPERUSER', 'REVIEWER', 'OPERATOR'];
    const people = await Promise.all(
      roles.map((role) => newFirm(system(), { firm: admin.firmUuid, role, operatorIds: ['17'] })),
    );
    const found: unknown[] = [];
    for (const [method, template, body] of TABLE) {
      const address = template.replace('[uuid]', own[2]!.uuid);
      const statuses: number[] = [];
      for (const person of people) statuses.push(await statusOf(person, method, address, body));
      found.push([method, template, ...statuses]);
    }
    expect(found).toEqual(TABLE.map(([method, template, , ...expected]) => [method, template, ...expected]));
  });

  describe('an OPERATOR', () => {
    it('finds their own calls alone, by whatever they search, sort, page or count', async () => {
      // Words follow within some seconds.
      await eventually(async () => (await admin.listCalls('q=mango')).count === 1);
      const expected = own.map(({ uuid }) => uuid).toSorted();
      const uuidsOf = ({ items }: Page) => items.map(({ uuid }) => uuid).toSorted();
      const all = await operator.call<Page>('GET', '/api/v1/calls?size=100');
      expect([all.count, uuidsOf(all)]).toEqual([3, expected]);
      for (const sort of ['start_time', '-score', 'created_at']) {
        const walked: string[] = [];
        let cursor: string | null = null;
        do {
          const more: string = cursor === null ? '' : `&cursor=${cursor}`;
          const page: Page = await operator.call<Page>('GET', `/api/v1/calls?size=1&sort=${sort}${more}`);
          expect(page.count).toBe(3);
          walked.push(...uuidsOf(page));
          cursor = page.next_cursor;
        } while (cursor !== null);
        expect(walked.toSorted()).toEqual(expected);
      }
      const { next_cursor } = await admin.call<Page>('GET', '/api/v1/calls?size=1');
      expect(await statusOf(operator, 'GET', `/api/v1/calls?size=1&cursor=${next_cursor}`)).toBe(400);
      for (const [query, count] of [
        ['q=mango', 0],
        ['q=papaya', 1],
        ['operator_id=18', 0],
        ['operator_id=17', 3],
        ['operator_name=Operator+18', 0],
        ['partner_call_id=c-3', 0],
        ['partner_call_id=c-0', 1],
      ] as const)
        expect([query, (await operator.call<Page>('GET', `/api/v1/calls?${query}`)).count]).toEqual([query, count]);
    });

    it('gets statistics of their own calls alone', async () => {
      for (const group of ['operator_name', 'day', 'topic', 'question', 'status']) {
        const { total } = await operator.call<Sums>('GET', `/api/v1/statistics?group_by=${group}`);
        expect([group, total.calls]).toEqual([group, 3]);
      }
      const { items } = await operator.call<Sums>('GET', '/api/v1/statistics?group_by=operator_name');
      expect(items.map(({ key }) => key)).toEqual(['Operator 17']);
    });

    it("gets 404 for another operator's call, and for a call of nobody, wherever a path names one", async () => {
      const document = (await (await fetch(`${system().url}/openapi.json`)).json()) as {
        paths: Record<string, Record<string, unknown>>;
      };
      const allowed: string[] = [];
      const prefix = '/api/v1/calls/{uuid}';
      for (const [template, methods] of Object.entries(document.paths)) {
        if (template !== prefix && !template.startsWith(`${prefix}/`)) continue;
        for (const method of Object.keys(methods)) {
          for (const call of [others[0]!, others.at(-1)!]) {
            const address = template.replaceAll(/\{\w+\}/g, call.uuid);
            const json = { question_uuid: call.uuid, reason: 'Mine' };
            const body = template.endsWith('/disputes') ? json : undefined;
            const answer = await operator.request<{ code: string }>(method.toUpperCase(), address, body);
            expect([403, 404]).toContain(answer.status);
            expect(answer.body.code).toBe(answer.status === 403 ? 'FORBIDDEN' : 'NOT_FOUND');
            if (answer.status === 404) allowed.push(template.replace(prefix, ''));
          }
        }
      }
      expect([...new Set(allowed)].toSorted()).toEqual([
        '',
        '/acknowledge',
        '/desk',
        '/disputes',
        '/playback',
        '/review',
        '/transcript',
      ]);
    });

    it('acknowledges and disputes the review of their own call, and sees disputes of their own calls alone', async () => {
      const { analysis } = await admin.call<Detail>('GET', path(''));
      const review = { analysis_uuid: analysis.uuid, answers: [], done: true };
      await reviewer.call('PUT', path('/review'), review);
      expect(await operator.call('GET', path('/review'))).toMatchObject({ by: reviewer.userUuid, done: true });
      expect(await statusOf(operator, 'PUT', path('/review'), review)).toBe(403);
      expect(await operator.call('POST', path('/acknowledge'))).toMatchObject({ acknowledged_by: operator.userUuid });
      const question_uuid = analysis.sections[0]!.questions[0]!.uuid;
      const dispute = { question_uuid, reason: 'Listen again' };
      const { uuid } = await operator.call<{ uuid: string }>('POST', path('/disputes'), dispute);
      const foreign = await admin.call<{ uuid: string }>('POST', path('/disputes', others[0]), dispute);
      expect(await operator.call('GET', '/api/v1/disputes')).toMatchObject({ count: 1, items: [{ uuid }] });
      expect(await reviewer.call('GET', '/api/v1/disputes')).toMatchObject({ count: 2 });
      const rejected = { status: 'rejected', comment: 'No' };
      for (const each of [uuid, foreign.uuid])
        expect(await statusOf(operator, 'PATCH', `/api/v1/disputes/${each}`, rejected)).toBe(403);
      expect(await reviewer.call('PATCH', `/api/v1/disputes/${uuid}`, rejected)).toMatchObject(rejected);
    });

    it('is told of what concerns their own calls alone', async () => {
      const notes: { uuid: string }[] = [];
      for (const call of [own[1]!, others[0]!]) {
        const comment = { text: 'Look', mentions: [operator.userUuid] };
        notes.push(await admin.call('POST', path('/comments', call), comment));
        await admin.call('PUT', path('/assignment', call), { user_uuid: operator.userUuid });
      }
      const inbox = await operator.call<Page<{ kind: string; uuid: string; call_uuid: string }>>(
        'GET',
        '/api/v1/inbox',
      );
      expect([inbox.count, inbox.items.map(({ call_uuid }) => call_uuid)]).toEqual([2, [own[1]!.uuid, own[1]!.uuid]]);
      const { uuid } = inbox.items.find(({ kind }) => kind === 'mention')!;
      const mention = `/api/v1/inbox/mentions/${uuid}`;
      expect(await statusOf(admin, 'DELETE', mention)).toBe(404);
      for (const status of [204, 204]) expect(await statusOf(operator, 'DELETE', mention)).toBe(status);
      expect(await operator.call('GET', '/api/v1/inbox')).toMatchObject({ count: 1, items: [{ kind: 'assignment' }] });
      const { uuid: foreign } = notes[1]!;
      expect(await statusOf(operator, 'DELETE', `/api/v1/inbox/mentions/${foreign}`)).toBe(404);
    });

    it('reads the names of those who judge calls, and of no other OPERATOR', async () => {
      await newFirm(system(), { firm: admin.firmUuid, role: 'OPERATOR' });
      const known = await operator.call<Page<{ uuid: string; role: string }>>('GET', '/api/v1/people?size=100');
      expect(known.count).toBe(known.items.length);
      expect(known.items.filter(({ role }) => role === 'OPERATOR').map(({ uuid }) => uuid)).toEqual([
        operator.userUuid,
      ]);
      expect(known.items.map(({ uuid }) => uuid)).toEqual(expect.arrayContaining([admin.userUuid, reviewer.userUuid]));
      const second = await operator.call<Page>('GET', '/api/v1/people?size=1&page=2');
      expect([second.count, second.items.map(({ uuid }) => uuid)]).toEqual([known.count, [known.items[1]!.uuid]]);
    });

    it('sees nothing without operator ids, and other calls within seconds when an ADMIN gives others', async () => {
      const created = await admin.call<{ uuid: string }>('POST', '/api/v1/users', { name: 'New', role: 'OPERATOR' });
      expect(created).toMatchObject({ role: 'OPERATOR', operator_ids: [] });
      const unknown = await newFirm(system(), { firm: admin.firmUuid, role: 'OPERATOR' });
      expect(await unknown.call('GET', '/api/v1/calls')).toMatchObject({ count: 0, items: [] });
      expect(await unknown.call('GET', '/api/v1/statistics?group_by=day')).toMatchObject({
        items: [],
        total: { calls: 0 },
      });
      expect(await statusOf(unknown, 'GET', path(''))).toBe(404);
      const change = { operator_ids: [' 18', '17'] };
      expect(await admin.call('PATCH', `/api/v1/users/${unknown.userUuid}`, change)).toMatchObject({
        operator_ids: ['18', '17'],
      });
      await eventually(async () => (await unknown.call<Page>('GET', '/api/v1/calls')).count === 6);
      const ofBoth = [own[0]!, ...others].map(({ operator_id, uuid }) => [
        operator_id,
        path('', { operator_id, uuid }),
      ]);
      for (const [operatorId, address] of ofBoth)
        expect([operatorId, await statusOf(unknown, 'GET', address!)]).toEqual([
          operatorId,
          operatorId === null ? 404 : 200,
        ]);
      await admin.call('PATCH', `/api/v1/users/${unknown.userUuid}`, { role: 'REVIEWER' });
      await eventually(async () => (await statusOf(unknown, 'GET', '/api/v1/calls')) === 401);
    });
  });

  it('a REVIEWER takes part in the calibrations that they are invited to, and finds no others', async () => {
    const calibration = (user: Client) => ({ name: 'Week', call_uuids: [own[0]!.uuid], user_uuids: [user.userUuid] });
    const theirs = await admin.call<{ uuid: string }>('POST', '/api/v1/calibrations', calibration(reviewer));
    const foreign = await admin.call<{ uuid: string }>('POST', '/api/v1/calibrations', calibration(admin));
    expect(await reviewer.call('GET', '/api/v1/calibrations')).toMatchObject({
      count: 1,
      items: [{ uuid: theirs.uuid }],
    });
    expect(await statusOf(reviewer, 'GET', `/api/v1/calibrations/${foreign.uuid}`)).toBe(404);
    const answers = `/api/v1/calibrations/${foreign.uuid}/calls/${own[0]!.uuid}`;
    const given = { answers: [{ question_uuid: own[0]!.uuid, answer: null }] };
    expect(await statusOf(reviewer, 'PUT', answers, given)).toBe(404);
    expect(await reviewer.call('GET', `/api/v1/calibrations/${theirs.uuid}`)).toMatchObject({ status: 'open' });
    expect(await admin.call('GET', '/api/v1/calibrations')).toMatchObject({ count: 2 });
    expect(await statusOf(reviewer, 'POST', `/api/v1/calibrations/${theirs.uuid}/close`)).toBe(403);
  });
}
