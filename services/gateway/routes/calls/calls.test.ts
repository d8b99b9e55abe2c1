import { Fault, notFound } from '@call-analysis/fault';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firm, type Fixture, openFixture, tokenFor, user } from '../../test/fixture.ts';

const caller = { firm_uuid: firm.uuid, user_uuid: user };
const uuid = '00000000-0000-4000-8000-0000000000c1';
const path = '/api/v1/calls';

const bare = {
  uuid,
  source: 'transcription',
  status: 'queued',
  attempt: 1,
  client_phone_number: '+998901234567',
  operator_name: 'Op',
  segment_type: 'sales',
  start_time: '2026-01-01T00:00:00.000Z',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  failure: null,
};
const unknown = {
  outcome: null,
  partner_call_id: null,
  operator_id: null,
  operator_group_name: null,
  direction: null,
  duration: null,
  disconnect_reason: null,
  language: null,
  score: null,
  batch_id: null,
  campaign_id: null,
  needs_review: null,
  questions: null,
  answered: null,
  reviewed_at: null,
  score_source: null,
  assigned_to: null,
  sampled_by: null,
};
/** A call as the API shows it. */
const item = { ...bare, ...unknown };
const nothing = {
  audio: null,
  audio_erased_at: null,
  transcript: null,
  transcript_erased_at: null,
  analysis: null,
  analyses: [],
  history: [],
};
/** What ingest is asked for. */
const filterIn = ({ filter_json }: { filter_json?: string }) => JSON.parse(filter_json!) as Record<string, unknown>;
/** One call as ingest answers. */
const detail = (fields: object) => async () => ({ ...item, ...nothing, ...fields }) as never;

let edge: Fixture;

beforeAll(async () => {
  edge = await openFixture();
});

afterAll(() => edge.close());

describe('listing calls', () => {
  it('passes on what ingest answers', async () => {
    const page = { count: 5_000_000_000, count_is_estimate: false, items: [item], next_cursor: null };
    edge.calls.listCalls = async () => page as never;
    const response = await edge.request('GET', path);
    expect([response.headers.get('content-type'), response.body]).toEqual(['application/json', page]);
  });

  it('forwards filters and pages, for the firm of the caller', async () => {
    let asked: unknown;
    edge.calls.listCalls = async (request) => {
      asked = { ...request, ...filterIn(request) };
      return { count: 0, items: [] };
    };
    await edge.request(
      'GET',
      `${path}?status=queued&status=failed&batch=${uuid}&partner_call_id=p%20%2B&page=3&size=7`,
    );
    expect(asked).toMatchObject({
      caller,
      status: ['queued', 'failed'],
      batch: uuid,
      partner_call_id: 'p +',
      page: 3,
      size: 7,
    });
    await edge.request('GET', path);
    expect(asked).toMatchObject({ caller, status: [], page: 1, size: 10 });
    expect(asked).not.toHaveProperty('batch');
  });

  it('forwards every filter, the sort and the cursor, with times in UTC, and reports an estimated count and waiting words', async () => {
    let asked: unknown;
    const words_until = '2026-01-01T00:00:00.000Z';
    const cursor = 'here'.repeat(14);
    edge.calls.listCalls = async (request) => {
      asked = { ...request, ...filterIn(request) };
      return { count: 20_000, count_is_estimate: true, items: [], next_cursor: 'next', words_until };
    };
    const query = new URLSearchParams([
      ['outcome', 'scored'],
      ['segment_type', 'sales'],
      ['segment_type', 'Поддержка'],
      ['direction', 'inbound'],
      ['operator_name', "O'ktam"],
      ['operator_group_name', 'Night'],
      ['campaign', uuid],
      ['source', 'audio'],
      ['started_from', '2026-01-01T05:00:00.25+05:00'],
      ['started_to', '2026-02-01'],
      ['score_min', '12.5'],
      ['score_max', '100'],
      ['q', '"lost parcel" -sorry'],
      ['sort', '-score'],
      ['cursor', cursor],
    ]);
    const response = await edge.request('GET', `${path}?${query.toString()}`);
    expect(asked).toMatchObject({
      caller,
      outcome: ['scored'],
      segment_type: ['sales', 'Поддержка'],
      direction: ['inbound'],
      operator_name: "O'ktam",
      operator_group_name: 'Night',
      campaign: uuid,
      source: 'audio',
      started_from: '2026-01-01T00:00:00.250Z',
      started_to: '2026-02-01T00:00:00.000Z',
      score_min: 12.5,
      score_max: 100,
      q: '"lost parcel" -sorry',
      sort: '-score',
      cursor,
    });
    expect(response.body).toEqual({
      count: 20_000,
      count_is_estimate: true,
      items: [],
      next_cursor: 'next',
      words_until,
    });
  });

  it('accepts a score with many digits', async () => {
    let asked: unknown;
    edge.calls.listCalls = async (request) => {
      const { score_min, score_max } = filterIn(request);
      asked = [score_min, score_max];
      return { count: 0, items: [] };
    };
    await edge.request('GET', `${path}?score_min=${0.1 + 0.2}&score_max=60.449999999999996`);
    expect(asked).toEqual([0.1 + 0.2, 60.449999999999996]);
  });

  it('reads a space as the plus sign that was not encoded', async () => {
    let asked: unknown;
    edge.calls.listCalls = async (request) => {
      asked = filterIn(request)['started_from'];
      return { count: 0, items: [] };
    };
    await edge.request('GET', `${path}?started_from=2026-01-01T05:00:00+05:00`);
    expect(asked).toBe('2026-01-01T00:00:00.000Z');
  });

  it.each([
    'status=done',
    'batch=1',
    'partner_call_id=',
    'size=0',
    'page=1&page=1',
    'outcome=good',
    'sort=duration',
    'q=%F0%9F%99%82',
    'started_from=2026-02-30',
    'started_from=2026-01-01T24:00',
    'started_to=yesterday',
    'started_from=2026-01-02&started_to=2026-01-01',
    'score_min=-1',
    'score_max=100.1',
    'score_min=1e1',
    'score_min=60&score_max=50',
    `page=1&cursor=${'x'.repeat(56)}`,
    'cursor=garbage',
    'cursor=',
    `cursor=${'x'.repeat(256)}`,
    `q=${'x'.repeat(256)}`,
    'operator_name=a%00b',
  ])('refuses %s', async (query) => {
    const response = await edge.request('GET', `${path}?${query}`);
    expect([response.status, response.body['code']]).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('reports all faults together, including those between fields', async () => {
    const response = await edge.request(
      'GET',
      `${path}?status=done&score_min=9&score_max=8&page=0&cursor=${'x'.repeat(56)}&started_from=never`,
    );
    const { fields } = response.body['details'] as { fields: { field: string }[] };
    expect(fields.map(({ field }) => field).toSorted()).toEqual([
      'cursor',
      'page',
      'score_max',
      'started_from',
      'status',
    ]);
  });
});

describe('one call', () => {
  it('shows the newest analysis as the current one', async () => {
    const question = { answer: null, not_applicable: false };
    const newest = { score: 71.4, scorecard: {}, sections: [{ questions: [question] }] };
    const older = { score: 60, scorecard: {}, sections: [] };
    let asked: unknown;
    edge.calls.getCall = async (request) => {
      asked = request;
      return detail({ questions: 1, analyses: [newest, older] })();
    };
    const response = await edge.request('GET', `${path}/${uuid.toUpperCase()}`);
    expect(asked).toMatchObject({ caller, call_uuid: uuid });
    const analysis = { ...newest, sections: [{ questions: [{ ...question, choices: null }] }] };
    expect(response.body).toMatchObject({ ...item, questions: 1, analysis, analyses: [analysis, older] });
  });

  it('has no current analysis while it has no number of questions, as after its channels were swapped', async () => {
    edge.calls.getCall = detail({ analyses: [{ score: 60, scorecard: {}, sections: [] }] });
    const { body } = await edge.request('GET', `${path}/${uuid}`);
    expect(body).toMatchObject({ analysis: null, analyses: [{ score: 60 }] });
  });

  it('with a recording has a URL to play it', async () => {
    const stored = { file_name: 'Звонок.wav', size: 5_000_000_000, url: '/objects/recordings/f/u.wav?signature=s' };
    edge.calls.getCall = detail({ audio: stored });
    const response = await edge.request('GET', `${path}/${uuid}`);
    expect(response.body['audio']).toEqual({ ...stored, url: `${edge.url}${stored.url}` });
    const elsewhere = { ...stored, url: 'https://store.example/u.wav?X=1' };
    edge.calls.getCall = detail({ audio: elsewhere });
    expect((await edge.request('GET', `${path}/${uuid}`)).body['audio']).toEqual(elsewhere);
  });

  it('without results has nulls and empty lists', async () => {
    edge.calls.getCall = detail({});
    expect((await edge.request('GET', `${path}/${uuid}`)).body).toEqual({ ...item, ...nothing });
  });

  it('that does not fit into a message between services is complete', async () => {
    const transcript = { language: null, engine: null, utterances: [{ index: 0, role: 'client', text: 'я' }] };
    const call = { ...item, ...nothing, transcript };
    edge.calls.getCall = async () => ({ is_large: true }) as never;
    edge.calls.readLargeCall = async function* () {
      for (const byte of Buffer.from(JSON.stringify(call))) yield { data: Buffer.from([byte]) };
    };
    expect((await edge.request('GET', `${path}/${uuid}`)).body).toEqual(call);
    const file = await edge.request('GET', `${path}/${uuid}/transcript?format=json`);
    expect(file.body).toEqual(transcript);
  });

  it('of another firm is not found', async () => {
    edge.calls.getCall = async () => {
      throw notFound('call');
    };
    expect((await edge.request('GET', `${path}/${uuid}`)).status).toBe(404);
  });
});

describe('retrying a call', () => {
  it('returns 202 with the call', async () => {
    edge.calls.retryCall = async () => item as never;
    const response = await edge.request('POST', `${path}/${uuid}/retry`);
    expect([response.status, response.body]).toEqual([202, item]);
  });

  it('that cannot be retried is 409', async () => {
    edge.calls.retryCall = async () => {
      throw new Fault('conflict', 'NOT_RETRYABLE', 'No.');
    };
    expect((await edge.request('POST', `${path}/${uuid}/retry`)).body['code']).toBe('NOT_RETRYABLE');
  });
});

describe('batches', () => {
  it('show their progress and the URL of their refused rows', async () => {
    const batch = { batch_id: uuid, kind: 'transcription', by_status: { queued: 1 }, erased: 2, finished_at: 'u' };
    const refused = { ...batch, rejected_csv_url: `/api/v1/calls/rejected/${uuid}` };
    edge.calls.getBatch = async () => refused as never;
    const rejected_csv_url = `${edge.url}${refused.rejected_csv_url}`;
    expect((await edge.request('GET', `${path}/batches/${uuid}`)).body).toEqual({ ...batch, rejected_csv_url });
    const page = { count: 1, items: [{ ...batch, rejected_csv_url: null }] };
    edge.calls.listBatches = async () => page as never;
    expect((await edge.request('GET', `${path}/batches?size=1`)).body).toEqual(page);
    expect((await edge.request('GET', `${path}/batches/1`)).status).toBe(404);
  });

  it('stream their refused rows as a file', async () => {
    edge.calls.downloadRejected = async function* () {
      for (let sent = 0; sent < 50; sent += 1) yield { data: Buffer.alloc(100_000, 'x') };
    };
    const response = await edge.request('GET', `${path}/rejected/${uuid}`);
    expect(response.status).toBe(200);
    expect(response.text).toHaveLength(5_000_000);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="rejected-${uuid}.csv"`);
    expect((await edge.request('HEAD', `${path}/rejected/${uuid}`)).status).toBe(200);
  });

  it('return 404 for an unknown file', async () => {
    edge.calls.downloadRejected = async function* () {
      yield* [];
      throw notFound('file of refused rows');
    };
    const response = await edge.request('GET', `${path}/rejected/${uuid}`);
    expect([response.status, response.body['code']]).toEqual([404, 'NOT_FOUND']);
  });

  it('break the connection when the stream fails, so that a partial file never looks complete', async () => {
    edge.calls.downloadRejected = async function* () {
      yield { data: Buffer.alloc(1000) };
      throw new Error('the store is gone');
    };
    await expect(edge.request('GET', `${path}/rejected/${uuid}`)).rejects.toThrow();
  });

  it('stop the stream when the client disconnects', async () => {
    const stopped = Promise.withResolvers<undefined>();
    edge.calls.downloadRejected = async function* (_request, call) {
      try {
        for (;;) {
          yield { data: Buffer.alloc(100_000) };
          call.signal.throwIfAborted();
        }
      } finally {
        stopped.resolve(undefined);
      }
    };
    const response = await fetch(`${edge.url}${path}/rejected/${uuid}`, {
      headers: { authorization: `Bearer ${tokenFor('ADMIN')}` },
    });
    await response.body?.cancel();
    await expect(stopped.promise).resolves.toBeUndefined();
  });
});

describe('analyzing a call again', () => {
  it('returns 202 with the call', async () => {
    edge.calls.analyzeCall = async (asked) => {
      expect(asked).toMatchObject({ caller, call_uuid: uuid });
      return { ...item, status: 'analyzing' } as never;
    };
    const response = await edge.request('POST', `${path}/${uuid}/analyze`);
    expect([response.status, response.body]).toEqual([202, { ...item, status: 'analyzing' }]);
  });

  it('that is being processed is a conflict, with the possible actions', async () => {
    edge.calls.analyzeCall = async () => {
      throw new Fault('conflict', 'INVALID_TRANSITION', 'It is being transcribed.', { details: { allowed: [] } });
    };
    const response = await edge.request('POST', `${path}/${uuid}/analyze`);
    expect([response.status, response.body['code'], response.body['details']]).toEqual([
      409,
      'INVALID_TRANSITION',
      { allowed: [] },
    ]);
  });
});

describe('erasing a call', () => {
  it('returns the receipt', async () => {
    const receipt = { uuid, erased_at: '2026-01-02T00:00:00.000Z', removed: [{ what: 'call', count: 1 }] };
    edge.calls.eraseCall = async (asked) => {
      expect(asked).toMatchObject({ caller, call_uuid: uuid });
      return receipt;
    };
    const response = await edge.request('DELETE', `${path}/${uuid}`);
    expect([response.status, response.body]).toEqual([200, receipt]);
  });

  it('of another firm, or already erased, is not found', async () => {
    edge.calls.eraseCall = async () => {
      throw notFound('call');
    };
    expect((await edge.request('DELETE', `${path}/${uuid}`)).status).toBe(404);
    expect((await edge.request('DELETE', `${path}/no-uuid`)).status).toBe(404);
  });
});

it.each(['', ' \n\t', '\u00a0'])('a comment without a character that is seen is refused: %j', async (text) => {
  const { status, body } = await edge.request('POST', `${path}/${uuid}/comments`, { json: { text } });
  expect([status, body['code']]).toEqual([400, 'VALIDATION_ERROR']);
});
