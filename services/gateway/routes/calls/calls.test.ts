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
  client_phone_number: '+998901234567',
  operator_name: 'Op',
  segment_type: 'sales',
  start_time: '2026-01-01T00:00:00.000Z',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  failure: null,
};
const full = {
  ...bare,
  status: 'failed',
  outcome: 'scored',
  partner_call_id: 'p',
  operator_id: 'o',
  operator_group_name: 'g',
  direction: 'inbound',
  duration: 61,
  disconnect_reason: 'hung up',
  language: 'uz',
  score: 71.4,
  batch_uuid: 'b',
  campaign_uuid: 'c',
  failure: { stage: 'analysis', code: 'X', message: 'm', retryable: true, attempts: 6 },
  needs_review: 2,
  questions: 15,
  answered: 4,
  reviewed_at: '2026-01-02T00:00:00.000Z',
  score_source: 'reviewed',
  assigned_to: 'u',
  sampled_by: 'r',
};
const { batch_uuid: batch_id, campaign_uuid: campaign_id, ...sameInBoth } = full;
/** `full` as the public API shows it. */
const fullItem = { ...sameInBoth, batch_id, campaign_id };
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
const fields = [
  'uuid, source, status, outcome, partner_call_id, client_phone_number, operator_name, operator_id',
  'operator_group_name, direction, segment_type, start_time, duration, disconnect_reason, language, score, batch_id',
  'campaign_id, failure, created_at, updated_at, needs_review, questions, answered, reviewed_at',
  'score_source, assigned_to, sampled_by',
].flatMap((line) => line.split(', '));

let edge: Fixture;

beforeAll(async () => {
  edge = await openFixture();
});

afterAll(() => edge.close());

describe('listing calls', () => {
  it('shows every field of every call, null when unknown', async () => {
    edge.calls.listCalls = async () => ({ count: 5_000_000_000, items: [bare, full] });
    const response = await edge.request('GET', path);
    expect(response.body).toEqual({
      count: 5_000_000_000,
      count_is_estimate: false,
      items: [{ ...bare, ...unknown }, fullItem],
      next_cursor: null,
    });
    for (const item of response.body['items'] as object[]) expect(Object.keys(item)).toEqual(fields);
  });

  it('forwards filters and pages, for the firm of the caller', async () => {
    let asked: unknown;
    edge.calls.listCalls = async (request) => {
      asked = request;
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
    edge.calls.listCalls = async (request) => {
      asked = request;
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
      ['cursor', 'here'],
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
      cursor: 'here',
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
      asked = [request.score_min, request.score_max];
      return { count: 0, items: [] };
    };
    await edge.request('GET', `${path}?score_min=${0.1 + 0.2}&score_max=60.449999999999996`);
    expect(asked).toEqual([0.1 + 0.2, 60.449999999999996]);
  });

  it('reads a space as the plus sign that was not encoded', async () => {
    let asked: unknown;
    edge.calls.listCalls = async (request) => {
      asked = request.started_from;
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
    'page=1&cursor=x',
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
      `${path}?status=done&score_min=9&score_max=8&page=0&cursor=x&started_from=never`,
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
  it('has numbered utterances and its newest analysis first', async () => {
    const utterances = [
      { role: 'operator', text: 'Салом', start: null, end: null },
      { role: 'client', text: 'Hi', start: 1.5, end: 2, confidence: 0.49 },
      { role: 'client', text: 'Hello', start: 3, end: 4, confidence: 0.5 },
    ];
    const question = { answer: null, not_applicable: false, choices: null };
    const sections = [{ questions: [question, { ...question, not_applicable: true }] }];
    let asked: unknown;
    edge.calls.getCall = async (request) => {
      asked = request;
      return {
        call: full,
        transcript_json: JSON.stringify({ language: 'uz', engine: 'upload', utterances }),
        analyses_json: [
          JSON.stringify({ score: 71.4, scorecard: {}, sections }),
          '{"score":60,"scorecard":{},"sections":[]}',
        ],
        audio: null,
        history: [
          { status: 'queued', at: 't1' },
          { status: 'failed', at: 't2', detail: 'X' },
        ],
      };
    };
    const response = await edge.request('GET', `${path}/${uuid.toUpperCase()}`);
    expect(asked).toMatchObject({ caller, call_uuid: uuid });
    expect(response.body).toEqual({
      ...fullItem,
      audio: null,
      audio_erased_at: null,
      transcript_erased_at: null,
      transcript: {
        language: 'uz',
        engine: 'upload',
        utterances: utterances.map((utterance, index) => ({
          index,
          confidence: null,
          ...utterance,
          doubtful: index === 1,
        })),
      },
      analysis: { score: 71.4, scorecard: {}, questions: 2, answered: 1, sections },
      analyses: [
        { score: 71.4, scorecard: {}, questions: 2, answered: 1, sections },
        { score: 60, scorecard: {}, questions: 0, answered: 0, sections: [] },
      ],
      history: [
        { status: 'queued', at: 't1', detail: null },
        { status: 'failed', at: 't2', detail: 'X' },
      ],
    });
  });

  it('with a recording has a URL to play it', async () => {
    const audio = {
      file_name: 'Звонок.wav',
      format: 'wav',
      channels: 2,
      sample_rate: 8000,
      left_channel: 'operator',
      right_channel: 'client',
      duration: 61.5,
      size: 5_000_000_000,
    };
    const stored = {
      ...audio,
      url: '/objects/recordings/f/u.wav?signature=s',
      url_expires_at: '2026-01-01T01:00:00.000Z',
    };
    edge.calls.getCall = async () => ({ call: bare, analyses_json: [], history: [], audio: stored });
    const response = await edge.request('GET', `${path}/${uuid}`);
    expect(response.body['audio']).toEqual({ ...stored, url: `${edge.url}${stored.url}` });
    const elsewhere = { ...stored, url: 'https://store.example/u.wav?X=1' };
    edge.calls.getCall = async () => ({ call: bare, analyses_json: [], history: [], audio: elsewhere });
    expect((await edge.request('GET', `${path}/${uuid}`)).body['audio']).toEqual(elsewhere);
  });

  it('without results has nulls and empty lists', async () => {
    edge.calls.getCall = async () => ({ call: bare, analyses_json: [], history: [], audio: null });
    const response = await edge.request('GET', `${path}/${uuid}`);
    const nothing = {
      audio: null,
      audio_erased_at: null,
      transcript: null,
      transcript_erased_at: null,
      analysis: null,
      analyses: [],
      history: [],
    };
    expect(response.body).toEqual({ ...bare, ...unknown, ...nothing });
    expect(Object.keys(response.body)).toEqual([...fields, ...Object.keys(nothing)]);
  });

  it('with a transcript of megabytes is complete', async () => {
    const utterances = [{ role: 'client', text: 'я'.repeat(2_000_000), start: null, end: null }];
    const transcript_json = JSON.stringify({ language: null, engine: null, utterances });
    edge.calls.getCall = async () => ({ call: bare, transcript_json, analyses_json: [], history: [], audio: null });
    const response = await edge.request('GET', `${path}/${uuid}`);
    expect(response.body['transcript']).toEqual({
      language: null,
      engine: null,
      utterances: [{ index: 0, ...utterances[0], confidence: null, doubtful: false }],
    });
  });

  it('that does not fit into a message between services is complete', async () => {
    const utterances = [{ role: 'client', text: 'я', start: null, end: null }];
    const analysis = { score: 1, scorecard: { uuid, name: 'Default', revision: 1 }, sections: [] };
    const documents = {
      transcript_json: JSON.stringify({ language: null, engine: null, utterances }),
      analyses_json: [JSON.stringify(analysis)],
    };
    edge.calls.getCall = async () => ({ call: bare, is_large: true, analyses_json: [], history: [], audio: null });
    edge.calls.readLargeCall = async function* () {
      for (const byte of Buffer.from(JSON.stringify(documents))) yield { data: Buffer.from([byte]) };
    };
    const { body } = await edge.request('GET', `${path}/${uuid}`);
    expect(body['transcript']).toMatchObject({ utterances: [{ index: 0, ...utterances[0] }] });
    expect(body['analysis']).toMatchObject(analysis);
    const transcript = await edge.request('GET', `${path}/${uuid}/transcript?format=json`);
    expect(transcript.body).toMatchObject({ utterances });
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
    edge.calls.retryCall = async () => bare;
    const response = await edge.request('POST', `${path}/${uuid}/retry`);
    expect([response.status, response.body]).toEqual([202, { ...bare, ...unknown }]);
  });

  it('that cannot be retried is 409', async () => {
    edge.calls.retryCall = async () => {
      throw new Fault('conflict', 'NOT_RETRYABLE', 'No.');
    };
    expect((await edge.request('POST', `${path}/${uuid}/retry`)).body['code']).toBe('NOT_RETRYABLE');
  });
});

describe('batches', () => {
  const batch = {
    batch_uuid: uuid,
    kind: 'transcription',
    created_at: 't',
    accepted: 3,
    duplicates: 1,
    rejected: 0,
    by_status: { queued: 1, completed: 2 },
    erased: 2,
    file_name: 'october.csv',
    uploaded_by: 'u',
  };
  const { batch_uuid: batch_id, ...sameInBoth } = batch;
  const item = { ...sameInBoth, batch_id, archive_name: null };

  it('show their progress and the URL of their refused rows', async () => {
    edge.calls.getBatch = async () => ({ ...batch, finished_at: 'u', rejected_uuid: uuid });
    const rejected_csv_url = `${edge.url}/api/v1/calls/rejected/${uuid}`;
    expect((await edge.request('GET', `${path}/batches/${uuid}`)).body).toEqual({
      ...item,
      finished_at: 'u',
      rejected_csv_url,
    });
    edge.calls.listBatches = async () => ({ count: 1, items: [batch] });
    expect((await edge.request('GET', `${path}/batches?size=1`)).body).toEqual({
      count: 1,
      items: [{ ...item, finished_at: null, rejected_csv_url: null }],
    });
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
      return { ...bare, status: 'analyzing' };
    };
    const response = await edge.request('POST', `${path}/${uuid}/analyze`);
    expect([response.status, response.body]).toEqual([202, { ...bare, ...unknown, status: 'analyzing' }]);
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
