import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Fixture, openFixture } from '../../test/fixture.ts';

const path = '/api/v1/calls/analyze';
const answer = (json: object) => ({ json: Buffer.from(JSON.stringify(json)) });
const scorecard_uuid = '00000000-0000-4000-8000-0000000000d1';

let edge: Fixture;
beforeAll(async () => {
  edge = await openFixture();
});
afterAll(() => edge.close());

describe('analyzing many calls again', () => {
  it('is a job with the scorecard that is named, or with the active ones', async () => {
    const asked: unknown[] = [];
    edge.calls.analyzeCalls = async ({ json }) => {
      asked.push((JSON.parse(json) as { scorecard_uuid?: string }).scorecard_uuid);
      return answer({ job_id: 'j' });
    };
    for (const json of [{ filter: {}, scorecard_uuid }, { filter: { status: ['completed'] } }]) {
      const { status, body } = await edge.request('POST', path, { json });
      expect([status, body]).toEqual([202, { job_id: 'j' }]);
    }
    expect(asked).toEqual([scorecard_uuid, undefined]);
  });

  it('is refused with a scorecard that is no UUID', async () => {
    const { status, body } = await edge.request('POST', path, { json: { filter: {}, scorecard_uuid: 'x' } });
    expect([status, body['code']]).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('may name calls instead of a filter, but not both', async () => {
    const call_uuids = [scorecard_uuid];
    const named = (json: string) => (JSON.parse(json) as { call_uuids: string[] }).call_uuids;
    edge.calls.measureCalls = async ({ json }) => answer({ calls: named(json).length, text_bytes: 10 });
    edge.calls.analyzeCalls = async ({ json }) => answer({ job_id: named(json).join() });
    edge.scorecards.estimateAnalyses = async ({ json }) => ({ json: Buffer.from(json) });
    const estimate = await edge.request('POST', path, { json: { call_uuids, dry_run: true } });
    expect([estimate.status, estimate.body]).toEqual([200, { calls: 1, text_bytes: 10 }]);
    const started = await edge.request('POST', path, { json: { call_uuids } });
    expect([started.status, started.body]).toEqual([202, { job_id: scorecard_uuid }]);
    for (const json of [{}, { filter: {}, call_uuids }, { call_uuids: [] }, { call_uuids: ['x'] }]) {
      const { status, body } = await edge.request('POST', path, { json });
      expect([status, body['code']]).toEqual([400, 'VALIDATION_ERROR']);
    }
  });

  it('as a dry run is estimated as a range, for the scorecard that is named', async () => {
    edge.calls.measureCalls = async () => answer({ calls: 7, text_bytes: 900 });
    const cost = { low: '0.01', high: '0.09', currency: 'USD' };
    const estimate = { calls: 7, input_tokens: 5000, output_tokens: 900, cost };
    edge.scorecards.estimateAnalyses = async ({ json }) => {
      expect(JSON.parse(json)).toMatchObject({ calls: 7, text_bytes: 900, scorecard_uuid });
      return answer(estimate);
    };
    const json = { filter: {}, scorecard_uuid, dry_run: true };
    const { status, body } = await edge.request('POST', path, { json });
    expect([status, body]).toEqual([200, estimate]);
  });
});
