import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from '@jest/globals';
import { type Batch, type Client, newFirm } from '../../test/client/new-firm.ts';
import { eventually } from '../../test/client/retry.ts';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';

const samples = new URL('../../../../samples/', import.meta.url);

let service: SystemUnderTest;
let client: Client;

interface Question {
  uuid: string;
  answer: string | null;
  decided_by: string;
}

interface Analysis {
  uuid: string;
  score: number;
  scorecard: { uuid: string; revision: number };
  sections: { questions: Question[] }[];
}

interface Item {
  uuid: string;
  score: number;
  matches?: { utterance: number; start_char: number; end_char: number }[];
}

export function describePeople(system: () => SystemUnderTest): void {
  beforeAll(async () => {
    service = system();
    client = await newFirm(service);
    const key = await client.upload(await readFile(new URL('transcripts.csv', samples)));
    const { body } = await client.request('POST', '/api/v1/calls/process-upload', { metadata_key: key });
    const { batch_id } = (body as { data: { batch_id: string } }).data;
    await eventually(async () => {
      const batch = await client.call<Batch>('GET', `/api/v1/calls/batches/${batch_id}`);
      return batch.finished_at !== null;
    });
  });

  it('a reviewer works through the queue: opens the next call, corrects an answer, and the call leaves the queue', async () => {
    const listQueue = () => client.listCalls<Item>('needs_review=true&reviewed=false&sort=start_time&size=100');
    const before = await listQueue();
    expect(before.count).toBeGreaterThan(0);
    const [next] = before.items as [Item];
    const { analysis } = await client.call<{ analysis: Analysis }>('GET', `/api/v1/calls/${next.uuid}`);
    const card = await client.call<{
      sections: { questions: { uuid: string; choices: { label: string }[] }[] }[];
    }>('GET', `/api/v1/scorecards/${analysis.scorecard.uuid}?revision=${analysis.scorecard.revision}`);
    const question = analysis.sections.flatMap(({ questions }) => questions).find(({ answer }) => answer !== null)!;
    const choices = card.sections
      .flatMap(({ questions }) => questions)
      .find(({ uuid }) => uuid === question.uuid)!.choices;
    const other = choices.find(({ label }) => label !== question.answer)!.label;
    const path = `/api/v1/calls/${next.uuid}/review`;
    const answers = [{ question_uuid: question.uuid, answer: other, comment: 'Listen again.' }];
    const reviewed = await client.call<Analysis>('PUT', path, { analysis_uuid: analysis.uuid, answers, done: true });
    expect(
      reviewed.sections.flatMap(({ questions }) => questions).find(({ uuid }) => uuid === question.uuid),
    ).toMatchObject({
      answer: other,
      decided_by: 'person',
      machine: { answer: question.answer, decided_by: question.decided_by },
    });
    expect((await listQueue()).count).toBe(before.count - 1);
    expect(await client.call('GET', `/api/v1/calls/${next.uuid}`)).toMatchObject({
      score: reviewed.score,
      score_source: 'reviewed',
      needs_review: 0,
      analysis: { review: { by: client.userUuid, done: true } },
    });
    expect(await client.call('GET', `/api/v1/scorecards/${analysis.scorecard.uuid}/agreement`)).toMatchObject({
      reviewed_calls: 1,
    });
    const wrong = [{ question_uuid: question.uuid, answer: 'none of these' }];
    const refused = await client.request('PUT', path, { analysis_uuid: analysis.uuid, answers: wrong });
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { code: 'VALIDATION_ERROR', details: { fields: [{ field: 'answers.0.answer' }] } },
    ]);
    const stale = await client.request('PUT', path, { analysis_uuid: client.userUuid, answers: [] });
    expect([stale.status, stale.body]).toMatchObject([409, { code: 'ANALYSIS_CHANGED' }]);
    expect((await client.request('DELETE', path)).status).toBe(200);
    expect((await listQueue()).count).toBe(before.count);
    await eventually(async () => {
      const { items } = await client.call<{ items: { action: string }[] }>('GET', `/api/v1/audit?subject=${next.uuid}`);
      const actions = items.map(({ action }) => action);
      return actions.includes('call.reviewed') && actions.includes('call.review_withdrawn');
    });
  });

  it('people comment on calls, and another firm sees neither comments nor reviews', async () => {
    const { items } = await client.listCalls<Item>('');
    const path = `/api/v1/calls/${items[0]!.uuid}/comments`;
    const comment = await client.call<{ uuid: string }>('POST', path, { text: 'Well done', utterance: 0 });
    expect(await client.call('GET', path)).toMatchObject({ count: 1, items: [{ ...comment, by: client.userUuid }] });
    const stranger = await newFirm(service);
    expect((await stranger.request('GET', path)).status).toBe(404);
    expect((await stranger.request('POST', path, { text: 'x' })).status).toBe(404);
    const colleague = await newFirm(service, { firm: client.firmUuid, role: 'WORKFLOW_ENGINEER' });
    expect((await colleague.request('DELETE', `${path}/${comment.uuid}`)).status).toBe(403);
    expect((await client.request('DELETE', `${path}/${comment.uuid}`)).status).toBe(204);
    expect((await client.request('POST', `/api/v1/calls/${items[0]!.uuid}/swap-channels`)).status).toBe(409);
  });

  it('a search returns the places of its words', async () => {
    // Words follow within some seconds.
    const { items } = await eventually(async () => {
      const found = await client.listCalls<Item>('q=order');
      return found.items.length > 0 && found;
    });
    for (const { uuid, matches } of items) {
      const { transcript } = await client.call<{ transcript: { utterances: { text: string }[] } }>(
        'GET',
        `/api/v1/calls/${uuid}`,
      );
      expect(matches!.length).toBeGreaterThan(0);
      for (const { utterance, start_char, end_char } of matches!)
        expect(transcript.utterances[utterance]!.text.slice(start_char, end_char)).toMatch(/^order/i);
    }
  });
}
