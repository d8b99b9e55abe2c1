import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from '@jest/globals';
import { type Batch, type Client, newFirm } from '../../test/client/new-firm.ts';
import { eventually } from '../../test/client/retry.ts';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';

const samples = new URL('../../../../samples/', import.meta.url);

interface Question {
  uuid: string;
  answer: string | null;
  decided_by: string;
}

interface Call {
  uuid: string;
  score: number;
  analysis: { uuid: string; sections: { questions: Question[] }[]; scorecard: { uuid: string; revision: number } };
}

interface Page {
  count: number;
  items: Record<string, unknown>[];
}

export function describeDesk(system: () => SystemUnderTest): void {
  let admin: Client;
  let colleague: Client;
  let stranger: Client;
  let calls: Call[];

  beforeAll(async () => {
    admin = await newFirm(system());
    colleague = await newFirm(system(), { firm: admin.firmUuid, role: 'WORKFLOW_ENGINEER' });
    stranger = await newFirm(system());
    const key = await admin.upload(await readFile(new URL('transcripts.csv', samples)));
    const { body } = await admin.request('POST', '/api/v1/calls/process-upload', { metadata_key: key });
    const { batch_id } = (body as { data: { batch_id: string } }).data;
    await eventually(async () => {
      const batch = await admin.call<Batch>('GET', `/api/v1/calls/batches/${batch_id}`);
      return batch.finished_at !== null;
    });
    const { items } = await admin.listCalls<{ uuid: string; outcome: string | null }>(
      'outcome=scored&sort=start_time&size=3',
    );
    calls = [];
    for (const { uuid } of items) calls.push(await admin.call<Call>('GET', `/api/v1/calls/${uuid}`));
  });

  /** A question that is answered, with another one of its labels. */
  async function answered({ analysis }: Call) {
    const card = await admin.call<{ sections: { questions: { uuid: string; choices: { label: string }[] }[] }[] }>(
      'GET',
      `/api/v1/scorecards/${analysis.scorecard.uuid}?revision=${analysis.scorecard.revision}`,
    );
    const question = questionsOf(analysis).find(({ answer }) => answer !== null)!;
    const { choices } = questionsOf(card).find(({ uuid }) => uuid === question.uuid)!;
    return {
      uuid: question.uuid,
      answer: question.answer!,
      other: choices.find(({ label }) => label !== question.answer)!.label,
    };
  }

  it("saved views are a person's own until they are shared, and one of them is the start page", async () => {
    const query = { segment_type: ['support'], score_max: 60, sort: 'score' };
    const own = await admin.call<{ uuid: string }>('POST', '/api/v1/views', { name: 'Low', query, start_page: true });
    expect(own).toMatchObject({
      query: { segment_type: ['support'], score_max: '60', sort: 'score' },
      shared: false,
      start_page: true,
      by: admin.userUuid,
    });
    expect(await colleague.call<Page>('GET', '/api/v1/views')).toMatchObject({ count: 0, items: [] });
    expect((await colleague.request('GET', `/api/v1/views/${own.uuid}`)).status).toBe(404);
    const other = await admin.call<{ uuid: string }>('POST', '/api/v1/views', {
      name: 'All',
      query: {},
      start_page: true,
    });
    expect(await admin.call('GET', `/api/v1/views/${own.uuid}`)).toMatchObject({ start_page: false });
    await admin.call('PATCH', `/api/v1/views/${other.uuid}`, { shared: true });
    expect(await colleague.call('GET', '/api/v1/views')).toMatchObject({
      count: 1,
      items: [{ uuid: other.uuid, name: 'All' }],
    });
    expect((await colleague.request('PATCH', `/api/v1/views/${other.uuid}`, { name: 'Mine' })).status).toBe(403);
    expect((await stranger.request('GET', `/api/v1/views/${other.uuid}`)).status).toBe(404);
    expect((await admin.request('DELETE', `/api/v1/views/${own.uuid}`)).status).toBe(204);
    const wrong = await admin.request('POST', '/api/v1/views', { name: ' ', query: { colour: 'red', sort: 'up' } });
    expect([wrong.status, fieldsOf(wrong.body)]).toEqual([400, ['name', 'query.colour', 'query.sort']]);
  });

  it("a call is assigned by an ADMIN to anybody and by others to themselves, and waits in that person's inbox", async () => {
    const [call] = calls as [Call];
    const path = `/api/v1/calls/${call.uuid}/assignment`;
    expect((await colleague.request('PUT', path, { user_uuid: admin.userUuid })).status).toBe(403);
    const due = '2030-01-02T00:00:00.000Z';
    expect(await admin.call('PUT', path, { user_uuid: colleague.userUuid, due: '2030-01-02' })).toMatchObject({
      call_uuid: call.uuid,
      assigned_to: colleague.userUuid,
      due,
      by: admin.userUuid,
    });
    const item = { kind: 'assignment', uuid: call.uuid, call_uuid: call.uuid, by: admin.userUuid, text: null, due };
    expect((await colleague.call<Page>('GET', '/api/v1/inbox')).items).toMatchObject([
      { ...item, operator_name: expect.any(String) },
    ]);
    expect((await admin.call<Page>('GET', '/api/v1/inbox')).items).toEqual([]);
    const desk = `/api/v1/calls/${call.uuid}/desk`;
    const assignment = { call_uuid: call.uuid, assigned_to: colleague.userUuid, due, by: admin.userUuid };
    expect(await colleague.call('GET', desk)).toEqual({
      assignment: { ...assignment, at: expect.any(String) },
      acknowledgement: null,
      disputes: [],
    });
    expect((await stranger.request('GET', desk)).status).toBe(404);
    expect(await colleague.call('PUT', path, { user_uuid: null })).toMatchObject({ assigned_to: null });
    expect(await colleague.call('GET', desk)).toMatchObject({ assignment: null });
    expect((await colleague.call<Page>('GET', '/api/v1/inbox')).items).toEqual([]);
    const unknown = await admin.request('PUT', path, { user_uuid: stranger.userUuid });
    expect([unknown.status, fieldsOf(unknown.body)]).toEqual([400, ['user_uuid']]);
    expect((await stranger.request('PUT', path, { user_uuid: stranger.userUuid })).status).toBe(404);
  });

  it('people of the firm have names for each other, whatever their role, and for no other firm', async () => {
    const { items } = await colleague.call<Page>('GET', '/api/v1/people');
    expect(items).toContainEqual({ uuid: admin.userUuid, name: 'Test', role: 'ADMIN', is_api_user: false });
    expect(items.map(({ uuid }) => uuid)).not.toContain(stranger.userUuid);
  });

  it('a comment calls people, and waits for them until they comment themselves', async () => {
    const path = `/api/v1/calls/${calls[0]!.uuid}/comments`;
    const comment = await admin.call<object>('POST', path, { text: 'Look', mentions: [colleague.userUuid] });
    expect(comment).toMatchObject({ mentions: [colleague.userUuid] });
    expect((await colleague.call<Page>('GET', '/api/v1/inbox')).items).toMatchObject([
      { kind: 'mention', text: 'Look' },
    ]);
    await colleague.call('POST', path, { text: 'I have' });
    expect((await colleague.call<Page>('GET', '/api/v1/inbox')).items).toEqual([]);
    const wrong = await admin.request('POST', path, { text: 'x', mentions: [stranger.userUuid] });
    expect([wrong.status, fieldsOf(wrong.body)]).toEqual([400, ['mentions.0']]);
  });

  it('an answer is disputed once at a time, and accepting the dispute with an answer changes the review', async () => {
    const [, call] = calls as [Call, Call];
    const { uuid: question_uuid, other } = await answered(call);
    const path = `/api/v1/calls/${call.uuid}/disputes`;
    const dispute = await colleague.call<{ uuid: string }>('POST', path, { question_uuid, reason: 'Listen again' });
    expect(dispute).toMatchObject({ status: 'open', by: colleague.userUuid, decided_by: null });
    const again = await admin.request('POST', path, { question_uuid, reason: 'Me too' });
    expect([again.status, again.body]).toMatchObject([409, { code: 'DISPUTE_EXISTS' }]);
    expect((await admin.call<Page>('GET', '/api/v1/inbox')).items).toMatchObject([
      { kind: 'dispute', uuid: dispute.uuid },
    ]);
    const unknown = await admin.request('POST', path, { question_uuid: randomUUID(), reason: 'x' });
    expect([unknown.status, fieldsOf(unknown.body)]).toEqual([400, ['question_uuid']]);
    const decision = { status: 'accepted', answer: other, comment: 'You are right' };
    const decided = await admin.call('PATCH', `/api/v1/disputes/${dispute.uuid}`, decision);
    expect(decided).toMatchObject({ status: 'accepted', comment: 'You are right', decided_by: admin.userUuid });
    const { analysis } = await admin.call<Call>('GET', `/api/v1/calls/${call.uuid}`);
    expect(questionsOf(analysis).find(({ uuid }) => uuid === question_uuid)).toMatchObject({
      answer: other,
      decided_by: 'person',
    });
    const late = await admin.request('PATCH', `/api/v1/disputes/${dispute.uuid}`, {
      status: 'rejected',
      comment: 'No',
    });
    expect([late.status, late.body]).toMatchObject([409, { code: 'INVALID_TRANSITION' }]);
    expect(await admin.call('GET', '/api/v1/disputes?status=open')).toMatchObject({ count: 0 });
    expect(await admin.call('GET', '/api/v1/disputes?status=open&status=accepted')).toMatchObject({ count: 1 });
    expect(await stranger.call('GET', '/api/v1/disputes')).toMatchObject({ count: 0 });
    expect((await stranger.request('PATCH', `/api/v1/disputes/${dispute.uuid}`, decision)).status).toBe(404);
  });

  it('a review is acknowledged once there is one, and again without effect', async () => {
    const [, reviewed, other] = calls as [Call, Call, Call];
    const first = await colleague.call('POST', `/api/v1/calls/${reviewed.uuid}/acknowledge`);
    expect(first).toMatchObject({ call_uuid: reviewed.uuid, acknowledged_by: colleague.userUuid });
    expect(await admin.call('POST', `/api/v1/calls/${reviewed.uuid}/acknowledge`)).toEqual(first);
    expect(await admin.call('GET', `/api/v1/calls/${reviewed.uuid}/desk`)).toMatchObject({
      acknowledgement: first,
      disputes: [{ status: 'accepted', by: colleague.userUuid }],
    });
    const refused = await admin.request('POST', `/api/v1/calls/${other.uuid}/acknowledge`);
    expect([refused.status, refused.body]).toMatchObject([409, { code: 'INVALID_TRANSITION' }]);
  });

  it('a calibration hides the answers of others until all have answered, and then tells how far they agree', async () => {
    const [call] = calls as [Call];
    const { uuid: question_uuid, answer, other } = await answered(call);
    const created = await admin.call<{ uuid: string }>('POST', '/api/v1/calibrations', {
      name: 'October',
      call_uuids: [call.uuid],
      user_uuids: [admin.userUuid, colleague.userUuid],
    });
    expect(created).toMatchObject({ status: 'open', agreement: null });
    expect((await colleague.call<Page>('GET', '/api/v1/inbox')).items).toMatchObject([
      { kind: 'calibration', uuid: created.uuid, text: 'October' },
    ]);
    const path = `/api/v1/calibrations/${created.uuid}`;
    const wrong = await colleague.request('PUT', `${path}/calls/${call.uuid}`, {
      answers: [{ question_uuid, answer: 'none of these' }],
    });
    expect(wrong.status).toBe(400);
    await colleague.call('PUT', `${path}/calls/${call.uuid}`, { answers: [{ question_uuid, answer }] });
    expect(await admin.call('GET', path)).toMatchObject({
      status: 'open',
      calls: [{ call_uuid: call.uuid, answered_by: [colleague.userUuid], answers: [] }],
    });
    await admin.call('PUT', `${path}/calls/${call.uuid}`, { answers: [{ question_uuid, answer: other }] });
    expect(await colleague.call('GET', path)).toMatchObject({
      status: 'closed',
      calls: [{ answers: [{ answers: [{ question_uuid }] }, { answers: [{ question_uuid }] }] }],
      agreement: {
        questions: [{ uuid: question_uuid, text: expect.any(String), n: 2, agreement: 0, kappa: -1 }],
        people: [{ agreement: 0 }, { agreement: 0 }],
        calls: [{ call_uuid: call.uuid, agreement: 0 }],
      },
    });
    const late = await admin.request('PUT', `${path}/calls/${call.uuid}`, { answers: [{ question_uuid, answer }] });
    expect([late.status, late.body]).toMatchObject([409, { code: 'INVALID_TRANSITION' }]);
    expect(await admin.call<Call>('GET', `/api/v1/calls/${call.uuid}`)).toMatchObject({ score: call.score });
    expect((await stranger.request('GET', path)).status).toBe(404);
    expect((await colleague.request('POST', `${path}/close`)).status).toBe(403);
    expect(await admin.call('POST', `${path}/close`)).toMatchObject({ closed_at: expect.any(String) });
  });

  it('nothing of it is offered to API keys', async () => {
    const { items } = await admin.call<Page>('GET', '/api/v1/views');
    expect(items.length).toBeGreaterThan(0);
    const document = (await (await fetch(`${system().url}/openapi.json`)).json()) as { paths: object };
    const desk = /\/(?:views|disputes|calibrations|inbox|people|acknowledge|assignment|desk)(?:\/|$)/;
    const paths = Object.keys(document.paths).filter((path) => desk.test(path));
    expect(paths.length).toBeGreaterThan(5);
    expect(paths.filter((path) => path.startsWith('/external/'))).toEqual([]);
  });

  it('an erased call takes its disputes, assignments and calibrated answers along', async () => {
    const [, call] = calls as [Call, Call];
    await admin.call('PUT', `/api/v1/calls/${call.uuid}/assignment`, { user_uuid: colleague.userUuid });
    const receipt = await admin.call<{ removed: { what: string; count: number }[] }>(
      'DELETE',
      `/api/v1/calls/${call.uuid}`,
    );
    expect(receipt.removed).toContainEqual({ what: 'dispute', count: 1 });
    expect(await admin.call('GET', '/api/v1/disputes')).toMatchObject({ count: 0 });
    expect((await colleague.call<Page>('GET', '/api/v1/inbox')).items).toEqual([]);
  });
}

function questionsOf<Question>({ sections }: { sections: { questions: Question[] }[] }): Question[] {
  return sections.flatMap(({ questions }) => questions);
}

function fieldsOf(body: unknown): string[] {
  return (body as { details: { fields: { field: string }[] } }).details.fields.map(({ field }) => field).toSorted();
}
