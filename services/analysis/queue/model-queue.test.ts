import { randomUUID } from 'node:crypto';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ruleAnalyst } from '../analysts/rule-analyst.ts';
import { parseAmount } from '../language-model/prices.ts';
import { modelConfig, modelQuestions } from '../test/model-scorecard.ts';
import { goodReply, ModelServer, refuseWith, replyWith } from '../test/model-server.ts';
import { TestService, toUtterances, transcriptReady, type TranscriptReadyEvent } from '../test/test-service.ts';

const server = await new ModelServer().listen();
const prices = {
  input: parseAmount('1000'),
  cachedInput: parseAmount('1000'),
  output: parseAmount('1000'),
  currency: 'USD',
};
const service = new TestService(ruleAnalyst, 2, {
  languageModel: modelConfig(server.url, { structured: 'json_schema', prices, concurrency: 10 }),
});
afterAll(() => server.close());

beforeEach(async () => {
  await service.waitUntilIdle();
  // A refusal that arrived late may have left one.
  await service.db.query('DELETE FROM model_outage');
  server.requests.length = 0;
  server.behaviour = goodReply;
  server.delayMs = 0;
  server.peak = 0;
});

const lines = [
  ['operator', 'Hello, this is Paul.'],
  ['client', 'Where is my parcel?'],
] as const;

const callOf = (firmuuid: string, change: Parameters<typeof transcriptReady>[1] = {}): TranscriptReadyEvent =>
  transcriptReady(lines, { firmuuid, duration: 60, ...change });

async function newFirm(questions: readonly object[] = Object.values(modelQuestions)): Promise<string> {
  const firm = randomUUID();
  const caller = { firm_uuid: firm, user_uuid: randomUUID() };
  const document = JSON.stringify({ name: 'Service', segment_type: null, sections: [{ name: 'All', questions }] });
  const { scorecard } = await service.client.createScorecard({ caller, document });
  await service.client.activateScorecard({ caller, scorecard_uuid: scorecard!.uuid });
  return firm;
}

/** A scorecard that is not active. */
async function newScorecard(firm: string): Promise<string> {
  const document = JSON.stringify({
    name: 'Other',
    segment_type: null,
    sections: [{ name: 'All', questions: [modelQuestions.solution] }],
  });
  const caller = { firm_uuid: firm, user_uuid: randomUUID() };
  return (await service.client.createScorecard({ caller, document })).scorecard!.uuid;
}

async function activeScorecard(firm: string): Promise<string> {
  const caller = { firm_uuid: firm, user_uuid: randomUUID() };
  const { items } = await service.client.listScorecards({ caller, page: 1, size: 10 });
  return items.find(({ is_active }) => is_active)!.uuid;
}

async function queued(): Promise<number> {
  const rows = await service.db.query<{ count: number }>('SELECT count(*)::int AS count FROM model_request');
  return rows[0]!.count;
}

/** Counts the requests whose conversation contains the text. */
const asked = (text: string) =>
  server.requests.filter(({ utterances }) => utterances.some((each) => each.text.includes(text))).length;

describe('with a language model', () => {
  it('a call is analyzed by it, stored with what it cost, and leaves the queue', async () => {
    const firm = await newFirm();
    const event = callOf(firm, { attempt: 2, priority: 3 });
    await service.publish(event);
    const { data, priority } = await service.analysisOf(event);
    expect(data).toMatchObject({ attempt: 2, outcome: 'scored', language: 'en' });
    expect(priority).toBe(3);
    expect(data.analysis).toMatchObject({
      analyst: { name: 'model', model: 'test-model' },
      usage: { requests: 1, cost: { currency: 'USD' } },
    });
    expect(await queued()).toBe(0);
    const usage = await service.db.query(
      'SELECT firm_uuid, call_uuid, requests, audio_seconds FROM model_usage WHERE firm_uuid = $1',
      [firm],
    );
    expect(usage).toEqual([{ firm_uuid: firm, call_uuid: event.subject, requests: 1, audio_seconds: 60 }]);
  });

  it('a call without speech costs nothing', async () => {
    const event = transcriptReady([], { firmuuid: await newFirm() });
    await service.publish(event);
    expect((await service.analysisOf(event)).data.outcome).toBe('no_speech');
    expect(server.requests).toHaveLength(0);
  });

  it('an event that is delivered again is not asked about again', async () => {
    const event = callOf(await newFirm());
    await service.publish(event);
    await service.analysisOf(event);
    await service.publish(event);
    await service.waitUntilIdle();
    expect(server.requests).toHaveLength(1);
  });

  it('another process asks about the calls of a process that died, once their lease has ended', async () => {
    const firm = await newFirm();
    const late = Promise.withResolvers<void>();
    server.behaviour = async (request) => {
      await late.promise;
      return goodReply(request);
    };
    const event = callOf(firm);
    await service.publish(event);
    await waitUntil(() => server.requests.length === 1);
    server.behaviour = goodReply;
    // As after kill -9: nobody extends the lease.
    await service.db.query(`UPDATE model_request SET lease = $1, leased_until = now() - interval '1 second'`, [
      randomUUID(),
    ]);
    await service.analysisOf(event);
    late.resolve();
    await service.waitUntilIdle();
    expect(server.requests).toHaveLength(2);
    expect(service.analyzed.filter(({ subject }) => subject === event.subject)).toHaveLength(1);
  });

  it('no more calls are asked about at the same time than configured, by each process', async () => {
    const firm = await newFirm();
    server.behaviour = async (request) => {
      await waitUntil(() => server.peak >= 20);
      return goodReply(request);
    };
    const events = Array.from({ length: 60 }, () => callOf(firm));
    await service.publish(...events);
    await Promise.all(events.map((event) => service.analysisOf(event)));
    expect(server.peak).toBe(20);
    expect(server.requests).toHaveLength(60);
  });

  it('the next calls are prepared while others are in progress, so that no place stays empty, and none is asked about too early', async () => {
    const firm = await newFirm();
    const held: (() => void)[] = [];
    server.behaviour = async (request) => {
      await new Promise<void>((resolve) => held.push(resolve));
      return goodReply(request);
    };
    const events = Array.from({ length: 40 }, () => callOf(firm));
    await service.publish(...events);
    const claimed = async () =>
      (await service.db.query('SELECT 1 FROM model_request WHERE leased_until > now() AND firm_uuid = $1', [firm]))
        .length;
    await waitUntil(async () => (await claimed()) > 22 && server.requests.length === 20);
    expect(await claimed()).toBeLessThanOrEqual(26);
    expect(server.requests).toHaveLength(20);
    server.behaviour = goodReply;
    for (const release of held) release();
    await Promise.all(events.map((event) => service.analysisOf(event)));
    expect(server.requests).toHaveLength(40);
    expect(server.peak).toBeLessThanOrEqual(20);
  });

  it('calls that were prepared when the server went away are given back, as if they had not been claimed', async () => {
    const firm = await newFirm();
    server.isDown = true;
    server.behaviour = async (request, response) => {
      await waitUntil(() => server.requests.length >= 20);
      return refuseWith(503, 'Down')(request, response);
    };
    const events = Array.from({ length: 40 }, () => callOf(firm));
    await service.publish(...events);
    const rows = () =>
      service.db.query<{ leased: boolean; tries: number }>(
        'SELECT leased_until IS NOT NULL AS leased, tries FROM model_request WHERE firm_uuid = $1',
        [firm],
      );
    await waitUntil(async () => {
      const now = await rows();
      return now.length === 40 && now.filter(({ leased }) => leased).length <= 2;
    });
    const untried = (await rows()).filter(({ tries }) => tries === 0).length;
    expect(untried).toBeGreaterThanOrEqual(15);
    server.behaviour = goodReply;
    server.isDown = false;
    await Promise.all(events.map((event) => service.analysisOf(event)));
  });

  it('one firm with many calls does not hold up another with few', async () => {
    const [large, small] = [await newFirm(), await newFirm()];
    const [fewQueued, fewDone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    server.behaviour = async (request) => {
      await fewQueued.promise;
      // The last calls of the large firm are held up until those of the small firm are done.
      if (asked('One of many') > 150 && request.utterances[0]!.text === 'One of many.') await fewDone.promise;
      return goodReply(request);
    };
    const transcript = { utterances: toUtterances([['operator', 'One of many.'], ...lines]) };
    const many = Array.from({ length: 200 }, () => callOf(large, { transcript }));
    const queued = async (firm: string) =>
      (await service.db.query('SELECT FROM model_request WHERE firm_uuid = $1', [firm])).length;
    await service.publish(...many);
    // How many are sent before one has been answered depends on what the server did in earlier tests.
    await waitUntil(async () => server.requests.length > 0 && (await queued(large)) === many.length);
    const few = Array.from({ length: 10 }, () => callOf(small));
    await service.publish(...few);
    await waitUntil(async () => (await queued(small)) === few.length);
    fewQueued.resolve();
    await Promise.all(few.map((event) => service.analysisOf(event)));
    fewDone.resolve();
    await Promise.all(many.map((event) => service.analysisOf(event)));
  });

  it('an erased call is not asked about, and its usage stays without it', async () => {
    const firm = await newFirm();
    const event = callOf(firm);
    await service.publish(event);
    await service.analysisOf(event);
    server.behaviour = () => {};
    const pending = callOf(firm);
    await service.publish(pending);
    await waitUntil(() => server.requests.length === 2);
    await service.erase(event);
    await service.erase(pending);
    await waitUntil(async () => (await queued()) === 0);
    const usages = () =>
      service.db.query<{ call_uuid: string | null; requests: number; counted: boolean }>(
        'SELECT call_uuid, requests, input_tokens > 500 AS counted FROM model_usage WHERE firm_uuid = $1',
        [firm],
      );
    // The request that was broken off was sent, so it costs what was sent.
    const counted = { call_uuid: null, requests: 1, counted: true };
    await waitUntil(async () => (await usages()).length === 2);
    expect(await usages()).toEqual([counted, counted]);
    server.behaviour = goodReply;
    expect(service.analyzed.some(({ subject }) => subject === pending.subject)).toBe(false);
  });
});

describe('while the settings of a firm are unknown', () => {
  const phone = '+998 90 123 45 67';
  const about = (firm: string) =>
    transcriptReady([['operator', `I will call you at ${phone}.`]], { firmuuid: firm, duration: 60 });

  it('its calls wait and are not sent, their histories say for what, and those of other firms go on', async () => {
    const [known, unknown, brandNew] = [await newFirm(), randomUUID(), randomUUID()];
    service.redactions.set(unknown, 'for_model');
    service.unknownFirms.add(unknown).add(brandNew);
    const waiting = [about(unknown), about(brandNew)];
    const others = Array.from({ length: 10 }, () => callOf(known));
    await service.publish(...waiting, ...others);
    await Promise.all(others.map((event) => service.analysisOf(event)));
    for (const event of waiting) {
      const { data } = await waitUntil(() => service.waiting.find(({ subject }) => subject === event.subject));
      expect(data.reason).toContain('key-management does not answer');
    }
    expect(asked('I will call you')).toBe(0);
    service.unknownFirms.clear();
    await Promise.all(waiting.map((event) => service.analysisOf(event)));
    expect(asked('[PHONE]')).toBe(1);
    // The test's server is on this machine, so a firm that wants no redaction gets none.
    expect(asked(phone)).toBe(1);
  });

  it('a redaction that this version does not know is taken for the strictest', async () => {
    const firm = randomUUID();
    service.redactions.set(firm, 'everything');
    const event = about(firm);
    await service.publish(event);
    await service.analysisOf(event);
    expect(asked(phone)).toBe(0);
    expect(asked('[PHONE]')).toBe(1);
  });
});

it('a call whose analysis always fails, for a reason of ours, is given up after some tries', async () => {
  const event = callOf(await newFirm(), { transcript: { key: 'transcripts/none.json' } });
  await service.publish(event);
  const tried = (tries: number) =>
    waitUntil(
      async () =>
        (
          await service.db.query('SELECT 1 FROM model_request WHERE event_id = $1 AND lease IS NULL AND tries >= $2', [
            event.id,
            tries,
          ])
        ).length > 0,
    );
  await tried(1);
  await service.db.query('UPDATE model_request SET tries = 19, next_at = now() WHERE event_id = $1', [event.id]);
  expect((await service.failureOf(event)).data).toMatchObject({ code: 'INTERNAL', retryable: true, attempts: 20 });
});

describe('while the server is away', () => {
  it('calls wait, their histories say for what, and they are analyzed when it is back', async () => {
    const firm = await newFirm();
    server.behaviour = refuseWith(503, 'Down for maintenance');
    server.isDown = true;
    const events = Array.from({ length: 5 }, () => callOf(firm));
    await service.publish(...events);
    await waitUntil(() => events.every(({ subject }) => service.waiting.some((each) => each.subject === subject)));
    expect(service.waiting.find(({ subject }) => subject === events[0]!.subject)!.data.reason).toContain('HTTP 503');
    expect(await service.notReady()).toContain('language model');
    server.behaviour = goodReply;
    server.isDown = false;
    await Promise.all(events.map((event) => service.analysisOf(event)));
    expect(service.failed.filter(({ firmuuid }) => firmuuid === firm)).toEqual([]);
    await waitUntil(async () => (await service.notReady()).length === 0);
  });

  it('a call that was tried often is tried again after a minute or so, not after a quarter of an hour', async () => {
    const firm = await newFirm();
    server.behaviour = refuseWith(401, 'Incorrect API key');
    const event = callOf(firm);
    await service.publish(event);
    const row = async () =>
      (
        await service.db.query<{ tries: number; seconds: number }>(
          `SELECT tries, extract(epoch FROM next_at - now())::float8 AS seconds FROM model_request
           WHERE event_id = $1 AND lease IS NULL`,
          [event.id],
        )
      )[0];
    await waitUntil(async () => ((await row())?.tries ?? 0) > 0);
    await service.db.query('UPDATE model_request SET tries = 30, next_at = now() WHERE event_id = $1', [event.id]);
    const { seconds } = await waitUntil(async () => {
      const now = await row();
      return now !== undefined && now.tries > 30 && now;
    });
    expect(seconds).toBeLessThanOrEqual(76);
    server.behaviour = goodReply;
    await service.db.query('UPDATE model_request SET next_at = now() WHERE event_id = $1', [event.id]);
    await service.analysisOf(event);
  });

  it('for longer than the limit, calls fail with ANALYST_UNAVAILABLE and can be retried', async () => {
    const firm = await newFirm();
    server.behaviour = refuseWith(401, 'Incorrect API key');
    const event = callOf(firm);
    await service.publish(event);
    await waitUntil(() => server.requests.length > 0);
    await waitUntil(() => service.waiting.some(({ subject }) => subject === event.subject));
    await service.db.query(
      `UPDATE model_request SET received_at = now() - interval '25 hours', first_failed_at = now() - interval '25 hours'`,
    );
    const { data } = await service.failureOf(event);
    expect(data).toMatchObject({ stage: 'analysis', code: 'ANALYST_UNAVAILABLE', retryable: true });
    expect(data.message).toContain('LLM_API_KEY');
    server.behaviour = goodReply;
    const next = callOf(firm);
    await service.publish(next);
    await service.analysisOf(next);
  });

  it('a refusal and an answer of no use are final until the call is retried by hand', async () => {
    const firm = await newFirm();
    server.behaviour = refuseWith(400, 'flagged');
    const refused = callOf(firm);
    await service.publish(refused);
    expect((await service.failureOf(refused)).data).toMatchObject({ code: 'ANALYST_REFUSED', retryable: true });
    server.behaviour = () => 'No.';
    const unreadable = callOf(firm);
    await service.publish(unreadable);
    expect((await service.failureOf(unreadable)).data).toMatchObject({ code: 'ANALYST_UNREADABLE', retryable: true });
    // What was paid for is counted all the same.
    const usage = await service.db.query<{ requests: number }>(
      'SELECT requests FROM model_usage WHERE firm_uuid = $1',
      [firm],
    );
    expect(usage.map(({ requests }) => requests)).toContain(2);
  });

  it('the server that asks for a pause gets it', async () => {
    const firm = await newFirm();
    const times: number[] = [];
    server.behaviour = (request, response) => {
      times.push(performance.now());
      return times.length === 1
        ? refuseWith(429, 'Slow down', { 'retry-after': '2' })(request, response)
        : goodReply(request);
    };
    const event = callOf(firm);
    await service.publish(event);
    await service.analysisOf(event);
    expect(times[1]! - times[0]!).toBeGreaterThan(1_900);
  });
});

const budgetOf = (firm: string, amount: string, whenSpent: string, currency = 'USD') =>
  service.db.query(
    `INSERT INTO budget (firm_uuid, amount, currency, when_spent) VALUES ($1, $2::numeric, $4, $3)
     ON CONFLICT (firm_uuid) DO UPDATE SET amount = excluded.amount, when_spent = excluded.when_spent`,
    [firm, amount, whenSpent, currency],
  );

describe('a budget', () => {
  const spentBy = async (firm: string) => {
    const rows = await service.db.query<{ amount: string }>('SELECT amount::text FROM spending WHERE firm_uuid = $1', [
      firm,
    ]);
    return Number(rows[0]?.amount ?? 0);
  };

  it('that is spent stops within the calls in flight, of 20 at a time in two processes, and the rest wait for it', async () => {
    const firm = await newFirm();
    const first = callOf(firm);
    await service.publish(first);
    const perCall = Number((await service.analysisOf(first)).data.analysis!.usage!.cost!.amount);
    const limit = (perCall * 11).toFixed(6);
    // Room for ten more calls.
    await budgetOf(firm, limit, 'wait');
    server.delayMs = 100;
    const events = Array.from({ length: 100 }, () => callOf(firm));
    await service.publish(...events);
    await waitUntil(() => service.waiting.some(({ firmuuid }) => firmuuid === firm));
    await waitUntil(
      async () =>
        (await service.db.query('SELECT 1 FROM model_request WHERE leased_until > now() AND firm_uuid = $1', [firm]))
          .length === 0,
    );
    const spent = await spentBy(firm);
    expect(spent).toBeGreaterThanOrEqual(perCall * 11 * 0.99);
    expect(spent).toBeLessThanOrEqual(perCall * (11 + 20) * 1.05);
    expect(service.waiting.find(({ firmuuid }) => firmuuid === firm)!.data.reason).toContain('budget');
    const announced = service.spent.filter(({ subject }) => subject === firm);
    expect(announced).toHaveLength(1);
    const { budget } = announced[0]!.data;
    const { resets_at } = await service.client.getBudget({ caller: { firm_uuid: firm, user_uuid: randomUUID() } });
    expect(budget).toMatchObject({ amount: String(Number(limit)), currency: 'USD', when_spent: 'wait', resets_at });
    expect(budget!.month).toBe(new Date(Date.parse(resets_at) - 1).toISOString().slice(0, 7));
    expect(Number(budget!.spent)).toBeGreaterThanOrEqual(perCall * 11 * 0.99);
    // A raised budget lets them go on.
    await budgetOf(firm, '1000000', 'wait');
    await Promise.all(events.map((event) => service.analysisOf(event)));
  });

  it('in a currency that the prices no longer have stops nothing, as its warning says', async () => {
    const firm = await newFirm();
    await budgetOf(firm, '0', 'wait', 'EUR');
    const event = callOf(firm);
    await service.publish(event);
    expect((await service.analysisOf(event)).data.analysis).toMatchObject({ analyst: { name: 'model' } });
  });

  it('of nothing lets nothing be asked', async () => {
    const firm = await newFirm();
    await budgetOf(firm, '0', 'wait');
    const event = callOf(firm);
    await service.publish(event);
    await waitUntil(() => service.waiting.some(({ subject }) => subject === event.subject));
    expect(server.requests).toHaveLength(0);
    await budgetOf(firm, '1000000', 'wait');
    await service.analysisOf(event);
  });

  it('that is spent lets fallbacks answer where the firm wants that, and another firm goes on', async () => {
    const [poor, rich] = [await newFirm(), await newFirm()];
    const first = callOf(poor);
    await service.publish(first);
    await service.analysisOf(first);
    await budgetOf(poor, '0.000001', 'fallback');
    const [second, other] = [callOf(poor), callOf(rich)];
    await service.publish(second, other);
    const { analysis } = (await service.analysisOf(second)).data;
    expect(analysis).toMatchObject({ analyst: { name: 'rules', model: null }, usage: null });
    const [, solution, respect] = analysis!.sections[0]!.questions;
    expect(solution).toMatchObject({ answer: null, not_applicable: false, needs_review: false });
    expect(respect).toMatchObject({ answer: 'Respectful', decided_by: 'fallback', needs_review: true });
    expect((await service.analysisOf(other)).data.analysis!.analyst.name).toBe('model');
    expect(asked('parcel')).toBe(2);
  });
});

describe('while a call waits for its budget', () => {
  it('the server may be away as long as it likes: the time in which it must answer begins when the budget is raised', async () => {
    const [waiting, asking] = [await newFirm(), await newFirm()];
    server.behaviour = refuseWith(401, 'Incorrect API key');
    const event = callOf(waiting);
    await service.publish(event);
    const failedAt = async ({ id }: TranscriptReadyEvent) => {
      const rows = await service.db.query<{ at: Date | null }>(
        'SELECT first_failed_at AS at FROM model_request WHERE event_id = $1',
        [id],
      );
      return rows[0]?.at ?? null;
    };
    await waitUntil(async () => (await failedAt(event)) !== null);
    await budgetOf(waiting, '0', 'wait');
    const other = callOf(asking);
    await service.publish(other);
    await waitUntil(async () => (await failedAt(other)) !== null);
    await service.db.query(
      `UPDATE model_request SET received_at = now() - interval '25 hours', first_failed_at = now() - interval '25 hours'`,
    );
    // The same statement looks for both.
    expect((await service.failureOf(other)).data.code).toBe('ANALYST_UNAVAILABLE');
    await waitUntil(async () => (await failedAt(event)) === null);
    expect(service.failed.filter(({ subject }) => subject === event.subject)).toEqual([]);
    await service.db.query('DELETE FROM model_outage');
    server.behaviour = goodReply;
    await budgetOf(waiting, '1000000', 'wait');
    await service.analysisOf(event);
  });
});

describe('through RPCs', () => {
  const callerOf = (firm: string) => ({ firm_uuid: firm, user_uuid: randomUUID() });

  it('a firm sees its usage and its budget, and no other firm does', async () => {
    const firm = await newFirm();
    const event = callOf(firm);
    await service.publish(event);
    const { cost } = (await service.analysisOf(event)).data.analysis!.usage!;
    const caller = callerOf(firm);
    await service.client.setBudget({ caller, monthly: { amount: '12.50', currency: 'USD' }, when_spent: 'fallback' });
    const budget = await service.client.getBudget({ caller });
    expect(budget).toMatchObject({ monthly: { amount: '12.5', currency: 'USD' }, when_spent: 'fallback', spent: cost });
    expect(budget.resets_at).toMatch(/-01T00:00:00.000Z$/);
    for (const group_by of ['day', 'month', 'segment_type', 'model']) {
      const { items } = await service.client.listUsage({ caller, group_by });
      expect(items).toMatchObject([{ calls: 1, requests: 1, audio_seconds: 60, cost }]);
    }
    const stranger = callerOf(randomUUID());
    expect((await service.client.listUsage({ caller: stranger, group_by: 'day' })).items).toEqual([]);
    expect(await service.client.getBudget({ caller: stranger })).toMatchObject({
      when_spent: 'wait',
      spent: { amount: '0' },
    });
  });

  it('a budget that is set below what the month has cost is announced as spent, once', async () => {
    const firm = await newFirm();
    const event = callOf(firm);
    await service.publish(event);
    const { cost } = (await service.analysisOf(event)).data.analysis!.usage!;
    const set = (amount: string) =>
      service.client.setBudget({ caller: callerOf(firm), monthly: { amount, currency: 'USD' }, when_spent: 'wait' });
    await set('1000000');
    for (const amount of ['0.000002', '0.000001', '0']) await set(amount);
    await set('1000000');
    await set('0.000003');
    const announced = () => service.spent.filter(({ subject }) => subject === firm).map(({ data }) => data.budget!);
    await waitUntil(() => announced().length === 2);
    expect(
      announced()
        .map(({ amount }) => amount)
        .toSorted(),
    ).toEqual(['0.000002', '0.000003']);
    expect(announced()[0]).toMatchObject({ spent: cost!.amount, currency: 'USD', when_spent: 'wait' });

    const another = randomUUID();
    await service.client.setBudget({
      caller: callerOf(another),
      monthly: { amount: '0', currency: 'USD' },
      when_spent: 'fallback',
    });
    await waitUntil(() => service.spent.some(({ subject, data }) => subject === another && data.budget!.spent === '0'));
  });

  it('a budget in another currency than the prices is refused', async () => {
    const request = { caller: callerOf(randomUUID()), monthly: { amount: '1', currency: 'EUR' }, when_spent: 'wait' };
    await expect(service.client.setBudget(request)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  it('a budget that stops nothing, because the currency of the prices was changed after it was set, says so', async () => {
    const firm = await newFirm();
    const caller = callerOf(firm);
    await service.client.setBudget({ caller, monthly: { amount: '1', currency: 'USD' }, when_spent: 'wait' });
    expect((await service.client.getBudget({ caller })).warning).toBeNull();
    await service.db.query(`UPDATE budget SET currency = 'EUR' WHERE firm_uuid = $1`, [firm]);
    const { warning } = await service.client.getBudget({ caller });
    expect(warning).toMatch(/budget is in EUR, but the prices are in USD, so the budget stops nothing/);
  });

  const triedCall = () => ({
    call_uuid: randomUUID(),
    segment_type: 'support',
    operator_name: 'Ann',
    duration: null,
    language: 'en',
    utterances: toUtterances(lines),
  });

  it('trials of a scorecard ask no more at the same time than configured, and what they cost counts', async () => {
    const firm = await newFirm();
    const scorecard_uuid = await activeScorecard(firm);
    server.delayMs = 20;
    const trial = () => service.client.tryScorecard({ caller: callerOf(firm), scorecard_uuid, call: triedCall() });
    // Calls of the queue, in the same process, have no place beside them either.
    const event = callOf(firm);
    await service.publish(event);
    // After refusals in earlier tests, the server is asked less at a time, and more with each answer.
    await waitUntil(async () => {
      await Promise.all(Array.from({ length: 30 }, trial));
      return server.peak >= 10;
    });
    await service.analysisOf(event);
    expect(server.peak).toBeLessThanOrEqual(11);
    const { items } = await service.client.listUsage({ caller: callerOf(firm), group_by: 'model' });
    expect(items).toMatchObject([{ requests: server.requests.length }]);
  });

  it('a trial while the server is away says what it waits for', async () => {
    const firm = await newFirm();
    server.behaviour = refuseWith(401, 'Incorrect API key');
    const trial = async () =>
      service.client.tryScorecard({
        caller: callerOf(firm),
        scorecard_uuid: await activeScorecard(firm),
        call: triedCall(),
      });
    const unavailable = { code: 'ANALYST_UNAVAILABLE', message: expect.stringContaining('LLM_API_KEY') };
    await expect(trial()).rejects.toMatchObject(unavailable);
    // Within the pause nothing is sent.
    await expect(trial()).rejects.toMatchObject(unavailable);
    expect(server.requests).toHaveLength(1);
    server.behaviour = goodReply;
    const event = callOf(firm);
    await service.publish(event);
    await service.analysisOf(event);
  });

  it('a call is analyzed by the scorecard that its event names, if that is the firm’s', async () => {
    const [firm, other] = [await newFirm(), await newFirm()];
    const named = await newScorecard(firm);
    const foreign = await newScorecard(other);
    const active = await activeScorecard(firm);
    const events = [named, foreign].map((scorecard_uuid) => callOf(firm, { scorecard_uuid }));
    await service.publish(...events);
    const used = await Promise.all(events.map((event) => service.analysisOf(event)));
    expect(used.map(({ data }) => data.analysis!.scorecard.uuid)).toEqual([named, active]);
  });

  it('an estimate names a scorecard that is another firm’s, or not active', async () => {
    const [firm, other] = [await newFirm(), await newFirm()];
    const estimate = (scorecard_uuid: string, uuid = firm) =>
      service.client.estimateAnalyses({ caller: callerOf(uuid), calls: 1, text_bytes: 1, scorecard_uuid });
    const active = await activeScorecard(firm);
    expect(await estimate(active)).toMatchObject({ input_tokens: expect.any(Number), cost: { currency: 'USD' } });
    await expect(estimate(active, other)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    await expect(estimate(await newScorecard(firm))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('activate it first'),
    });
  });

  it('the cost of many calls lies within the range that was estimated before', async () => {
    const firm = await newFirm();
    const events = Array.from({ length: 20 }, (_, at) =>
      callOf(firm, { transcript: { utterances: toUtterances(Array.from({ length: 5 + at }, () => lines).flat()) } }),
    );
    const text_bytes = events
      .flatMap(({ data }) => ('utterances' in data.transcript ? data.transcript.utterances : []))
      .reduce((sum, { text }) => sum + Buffer.byteLength(text) + 10, 0);
    const caller = callerOf(firm);
    const estimate = await service.client.estimateAnalyses({ caller, calls: events.length, text_bytes });
    await service.publish(...events);
    await Promise.all(events.map((event) => service.analysisOf(event)));
    const { spent } = await service.client.getBudget({ caller });
    expect(Number(spent!.amount)).toBeGreaterThan(Number(estimate.cost!.low));
    expect(Number(spent!.amount)).toBeLessThan(Number(estimate.cost!.high));
  });
});

it('a reply that costs nothing to read has its usage as the server reports it', async () => {
  server.behaviour = () => replyWith([]);
  const firm = await newFirm([modelQuestions.greeting]);
  const event = callOf(firm);
  await service.publish(event);
  expect((await service.analysisOf(event)).data.analysis!.usage!.requests).toBe(1);
});
