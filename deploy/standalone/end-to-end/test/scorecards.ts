import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Batch, type Client, newFirm } from '../../test/client/new-firm.ts';
import { eventually } from '../../test/client/retry.ts';
import { csvOf } from '../../test/client/valid-uploads.ts';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';

const PATH = '/api/v1/scorecards';

interface Scorecard {
  uuid: string;
  name: string;
  segment_type: string | null;
  is_active: boolean;
  revision: number;
  sections: { name: string; questions: { uuid: string; text: string }[] }[];
}
interface Detail {
  score: number | null;
  analysis: {
    score: number | null;
    scorecard: { uuid: string; revision: number };
    sections: { questions: { answer: string | null; evidence: { quote: string }[] }[] }[];
  };
  analyses: { scorecard: { uuid: string; revision: number } }[];
}

let service: SystemUnderTest;
let client: Client;

function asks(text: string, phrase: string, more: object = {}) {
  return {
    text,
    weight: 1,
    choices: [
      { label: 'Yes', points: 1 },
      { label: 'No', points: 0 },
    ],
    decided: {
      by: 'rule',
      cases: [{ heard: { role: 'operator', source: { phrases: { en: [phrase] } } }, answer: 'Yes' }],
      otherwise: 'No',
    },
    ...more,
  };
}

/** Uploads one call and waits for its result. */
async function scored(segmentType: string, said: string): Promise<{ uuid: string; detail: Detail }> {
  const anonymized_text = `"<operator>Good morning, this is Ann. ${said}<client>Thank you, that is good to know."`;
  const key = await client.upload(csvOf([{ anonymized_text, segment_type: segmentType }]));
  const { data } = await client.call<{ data: { batch_id: string } }>('POST', '/api/v1/calls/process-upload', {
    metadata_key: key,
  });
  await eventually(async () => {
    const batch = await client.call<Batch>('GET', `/api/v1/calls/batches/${data.batch_id}`);
    return batch.finished_at !== null;
  });
  const { items } = await client.call<{ items: { uuid: string; batch_id: string }[] }>('GET', '/api/v1/calls?size=100');
  const { uuid } = items.find(({ batch_id }) => batch_id === data.batch_id)!;
  return { uuid, detail: await detailOf(uuid) };
}

const detailOf = (uuid: string) => client.call<Detail>('GET', `/api/v1/calls/${uuid}`);

export function describeScorecards(system: () => SystemUnderTest): void {
  beforeAll(async () => {
    service = system();
    client = await newFirm(service, { segmentTypes: ['support', 'sales'] });
  });

  describe('a firm’s own scorecard', () => {
    it('scores calls after its activation with its newest revision, and scored calls keep their revision', async () => {
      const made = await client.request<Scorecard>('POST', PATH, {
        name: 'Sales',
        segment_type: 'sales',
        sections: [{ name: 'Offer', questions: [asks('Was the bonus named?', 'bonus point*')] }],
      });
      expect([made.status, made.headers.get('etag')]).toEqual([201, '"1"']);
      const { uuid, sections } = made.body;
      expect(made.body).toMatchObject({ is_active: false, revision: 1 });
      const before = await scored('sales', 'You get bonus points.');
      expect(before.detail.analysis.scorecard.uuid).not.toBe(uuid);

      expect(await client.call<Scorecard>('POST', `${PATH}/${uuid}/activate`)).toMatchObject({ is_active: true });
      const first = await scored('sales', 'You get bonus points.');
      expect(first.detail).toMatchObject({ score: 100, analysis: { scorecard: { uuid, name: 'Sales', revision: 1 } } });
      expect(first.detail.analysis.sections[0]?.questions[0]?.evidence[0]?.quote).toBe('You get bonus points.');
      expect((await scored('support', 'You get bonus points.')).detail.analysis.scorecard.uuid).not.toBe(uuid);

      const changed = {
        name: 'Sales',
        sections: [
          { name: 'Offer', questions: [...sections[0]!.questions, asks('Was the discount named?', 'discount')] },
        ],
      };
      const put = (ifMatch: string) =>
        client.request<Scorecard>('PUT', `${PATH}/${uuid}`, changed, { 'if-match': ifMatch });
      const revised = await put('"1"');
      expect([revised.status, revised.headers.get('etag'), revised.body.is_active]).toEqual([200, '"2"', true]);
      expect(revised.body.sections[0]!.questions[0]).toEqual(sections[0]!.questions[0]);
      expect(await put('"1"')).toMatchObject({
        status: 412,
        body: { code: 'REVISION_CONFLICT', details: { revision: 2 } },
      });

      const second = await scored('sales', 'You get bonus points.');
      expect(second.detail).toMatchObject({ score: 50, analysis: { scorecard: { uuid, revision: 2 } } });
      expect(await detailOf(first.uuid)).toMatchObject({ score: 100, analysis: { scorecard: { uuid, revision: 1 } } });
      expect(await client.request('POST', `/api/v1/calls/${first.uuid}/analyze`)).toMatchObject({ status: 202 });
      const anew = await eventually(async () => {
        const detail = await detailOf(first.uuid);
        return detail.analyses.length === 2 ? detail : undefined;
      });
      expect(anew).toMatchObject({ score: 50, analysis: { scorecard: { uuid, revision: 2 } } });
      expect(anew.analyses.map(({ scorecard }) => scorecard.revision)).toEqual([2, 1]);
      expect(await client.call('GET', `${PATH}/${uuid}/revisions`)).toMatchObject({
        count: 2,
        items: [{ revision: 2, created_by: client.userUuid }, { revision: 1 }],
      });
      expect(await client.call<Scorecard>('GET', `${PATH}/${uuid}?revision=1`)).toMatchObject({
        revision: 1,
        sections,
      });
    });

    it('is refused with the path of every fault, and is not visible to other firms', async () => {
      const { status, body } = await client.request<{ code: string; details: { fields: { field: string }[] } }>(
        'POST',
        PATH,
        {
          name: '',
          segment_type: 'billing',
          sections: [
            { name: 'Offer', questions: [asks('?', '..', { weight: 0 })] },
            { name: 'Empty', questions: [] },
          ],
        },
      );
      expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
      expect(body.details.fields.map(({ field }) => field).toSorted()).toEqual([
        'name',
        'sections.0.questions.0.decided.cases.0.heard.source.phrases.en.0',
        'sections.0.questions.0.weight',
        'sections.1.questions',
        'segment_type',
      ]);
      const { items } = await client.call<{ items: Scorecard[] }>('GET', PATH);
      const other = await newFirm(service);
      expect(await other.call('GET', PATH)).toMatchObject({ count: 1 });
      for (const { uuid } of items)
        expect(await other.request('GET', `${PATH}/${uuid}`)).toMatchObject({ status: 404 });
      const engineer = await newFirm(service, { role: 'WORKFLOW_ENGINEER', firm: client.firmUuid });
      expect(await engineer.request('GET', PATH)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    });
  });
}
