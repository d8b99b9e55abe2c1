import { Fault } from '@call-analysis/fault';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { firm, type Fixture, openFixture, user } from '../../test/fixture.ts';

const uuid = '00000000-0000-4000-8000-0000000000e1';
const scorecard = '00000000-0000-4000-8000-0000000000e2';
const utterances = [
  { role: 'operator', text: 'Good morning.\n\nBonus --> yes', start: 0.4, end: 3661.25 },
  { role: 'client', text: '1 < 2 & more', start: 3661.25, end: 3662 },
];

let edge: Fixture;
let asked: unknown;

beforeAll(async () => {
  edge = await openFixture();
});

beforeEach(() => {
  asked = undefined;
  edge.calls.exportCalls = async function* ({ caller, json }) {
    asked = { caller, ...JSON.parse(json) };
    yield { data: Buffer.from('uuid\r\n') };
    yield { data: Buffer.from('1\r\n') };
  };
});

afterAll(() => edge.close());

function haveTranscript(transcript: object | undefined): void {
  edge.calls.getCall = async () => ({ transcript: transcript ?? null }) as never;
}

describe('GET /api/v1/calls/export', () => {
  it.each([
    ['csv', 'text/csv; charset=utf-8'],
    ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    ['ndjson', 'application/x-ndjson'],
    ['parquet', 'application/vnd.apache.parquet'],
  ])('streams %s as an attachment', async (format, type) => {
    const { status, headers, text } = await edge.request('GET', `/api/v1/calls/export?format=${format}`);
    expect([status, headers.get('content-type'), text]).toEqual([200, type, 'uuid\r\n1\r\n']);
    expect(headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="calls-\\d{4}-\\d\\d-\\d\\d\\.${format}"$`),
    );
    expect(asked).toMatchObject({ format, transcripts: false });
  });

  it("passes on the reader's names of columns, and refuses what is no JSON object of texts", async () => {
    const named = async (headings: string) =>
      edge.request('GET', `/api/v1/calls/export?headings=${encodeURIComponent(headings)}`);
    expect((await named('{"start_time":"Начало"}')).status).toBe(200);
    expect(asked).toMatchObject({ headings: { start_time: 'Начало' } });
    for (const wrong of ['{', '[]', '"a"', '{"start_time":1}', '{"start_time":" "}']) {
      const { status, body } = await named(wrong);
      expect([status, body['code']]).toEqual([400, 'VALIDATION_ERROR']);
    }
    await edge.request('GET', '/api/v1/calls/export');
    expect(asked).not.toHaveProperty('headings');
  });

  it('passes on the filters of Get Calls, the scorecard of the questions and the caller', async () => {
    const query = `status=completed&status=failed&score_min=50&campaign=${uuid}&sort=-score&questions=${scorecard}&transcripts=true`;
    await edge.request('GET', `/api/v1/calls/export?${query}`);
    expect(asked).toMatchObject({
      caller: { firm_uuid: firm.uuid, user_uuid: user, address: '127.0.0.1' },
      status: ['completed', 'failed'],
      score_min: 50,
      campaign: uuid,
      sort: '-score',
      format: 'csv',
      questions: scorecard,
      transcripts: true,
    });
  });

  it.each([
    'format=pdf&transcripts=maybe',
    'page=1&size=10',
    'cursor=x',
    'score_min=90&score_max=10',
    'started_from=2026-02-01&started_to=2026-01-01',
  ])('refuses %s', async (query) => {
    const { status, body } = await edge.request('GET', `/api/v1/calls/export?${query}`);
    expect([status, body['code']]).toEqual([400, 'VALIDATION_ERROR']);
    expect(asked).toBeUndefined();
  });

  it('has the calls that a POST names', async () => {
    const json = { call_uuids: [uuid], format: 'ndjson', questions: scorecard, transcripts: true };
    const { status, headers, text } = await edge.request('POST', '/api/v1/calls/export', { json });
    expect([status, headers.get('content-type'), text]).toEqual([200, 'application/x-ndjson', 'uuid\r\n1\r\n']);
    expect(asked).toMatchObject({
      caller: { firm_uuid: firm.uuid, user_uuid: user, address: '127.0.0.1' },
      call_uuids: [uuid],
      format: 'ndjson',
      questions: scorecard,
      transcripts: true,
    });
    asked = undefined;
    for (const wrong of [{}, { call_uuids: [] }, { call_uuids: [uuid], format: 'pdf' }]) {
      const refused = await edge.request('POST', '/api/v1/calls/export', { json: wrong });
      expect([refused.status, refused.body['code']]).toEqual([400, 'VALIDATION_ERROR']);
    }
    expect(asked).toBeUndefined();
  });

  it('answers a fault before the first piece with its status', async () => {
    edge.calls.exportCalls = async function* () {
      yield* [];
      throw new Fault('invalid', 'TOO_MANY_ROWS', 'Too many.');
    };
    const { status, body } = await edge.request('GET', '/api/v1/calls/export?format=xlsx');
    expect([status, body['code']]).toEqual([400, 'TOO_MANY_ROWS']);
  });

  it('closes the connection when the file cannot be completed', async () => {
    edge.calls.exportCalls = async function* () {
      yield { data: Buffer.from('uuid\r\n') };
      throw new Fault('unavailable', 'UNAVAILABLE', 'Gone.');
    };
    await expect(edge.request('GET', '/api/v1/calls/export')).rejects.toThrow();
  });

  it('has an answer to HEAD without a body', async () => {
    const { status, text } = await edge.request('HEAD', '/api/v1/calls/export');
    expect([status, text]).toEqual([200, '']);
  });
});

describe('GET /api/v1/calls/{uuid}/transcript', () => {
  const file = (format: string) => edge.request('GET', `/api/v1/calls/${uuid}/transcript?format=${format}`);

  it('is text, SRT, WebVTT or JSON', async () => {
    haveTranscript({ language: 'en', engine: 'tiny', utterances });
    expect((await file('txt')).text).toBe('Operator: Good morning.\n\nBonus --> yes\nClient: 1 < 2 & more\n');
    expect((await file('srt')).text).toBe(
      '1\n00:00:00,400 --> 01:01:01,250\nOperator: Good morning. Bonus → yes\n\n2\n01:01:01,250 --> 01:01:02,000\nClient: 1 < 2 & more\n',
    );
    expect((await file('vtt')).text).toBe(
      'WEBVTT\n\n00:00:00.400 --> 01:01:01.250\n<v Operator>Good morning. Bonus → yes</v>\n\n01:01:01.250 --> 01:01:02.000\n<v Client>1 &lt; 2 &amp; more</v>\n',
    );
    expect((await file('vtt')).headers.get('content-disposition')).toBe(`attachment; filename="${uuid}.vtt"`);
    const json = await edge.request('GET', `/api/v1/calls/${uuid}/transcript`);
    expect(json.body).toEqual({
      language: 'en',
      engine: 'tiny',
      utterances,
    });
  });

  it('without times has no subtitles', async () => {
    const uploaded = utterances.map((each) => ({ ...each, start: null, end: null }));
    haveTranscript({ language: null, engine: null, utterances: uploaded });
    for (const format of ['srt', 'vtt']) {
      const { status, body } = await file(format);
      expect([status, body['code']]).toEqual([409, 'NO_TIMES']);
    }
    expect((await file('txt')).status).toBe(200);
  });

  it('is 404 for a call without one', async () => {
    haveTranscript(undefined);
    expect((await file('txt')).status).toBe(404);
    expect((await file('pdf')).status).toBe(400);
  });
});
