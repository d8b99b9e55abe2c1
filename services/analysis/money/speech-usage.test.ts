import { randomUUID } from 'node:crypto';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { openRuleAnalyst } from '../analysts/rule-analyst.ts';
import { costOfSpeech } from '../language-model/prices.ts';
import { TestService, type TranscriptReadyEvent } from '../test/test-service.ts';
import { listUsage } from './money-rpcs.ts';
import type { SpeechRow, UsageRow } from './money-store.ts';

const PRICE = { perMinute: 4_300_000n, currency: 'USD' };
const service = new TestService(openRuleAnalyst(0.7), 2, { speechPrice: PRICE });
const callerOf = (firm: string) => ({ firm_uuid: firm, user_uuid: randomUUID() });
const usageOf = async (firm: string, group_by = 'day') =>
  (await service.client.listUsage({ caller: callerOf(firm), group_by })).items;

function transcribed(firm: string, seconds: number, change: Partial<TranscriptReadyEvent['data']> = {}) {
  return {
    id: randomUUID(),
    source: 'transcription',
    type: 'transcript.ready.v1',
    time: '2026-11-22T23:59:59.000Z',
    subject: randomUUID(),
    firmuuid: firm,
    priority: 3,
    data: {
      attempt: 1,
      source: 'audio',
      duration: 100,
      language: 'en',
      tags: [],
      segment_type: 'support',
      engine: 'deepgram:nova-3',
      speech_seconds: seconds,
      transcript: { utterances: [{ role: 'operator', text: 'Good morning.', start: 0, end: 1 }] },
      ...change,
    },
  } satisfies TranscriptReadyEvent;
}

describe('the speech of transcripts', () => {
  it('counts once for an event, however often and to however many replicas it is delivered', async () => {
    const firm = randomUUID();
    const [one, other] = [transcribed(firm, 90), transcribed(firm, 30.5)];
    await service.publish(one, other);
    await service.publish(one, { ...other });
    for (const each of [one, other]) await service.analysisOf(each);
    await service.publish(one);
    await service.waitUntilIdle();
    const speech = { speech_calls: 2, speech_seconds: 120.5, speech_cost: { amount: '0.008635834', currency: 'USD' } };
    for (const [group, key] of [
      ['day', '2026-11-22'],
      ['month', '2026-11'],
      ['segment_type', 'support'],
      ['model', 'deepgram:nova-3'],
    ] as const)
      expect(await usageOf(firm, group)).toEqual([expect.objectContaining({ key, calls: 0, requests: 0, ...speech })]);
    expect(await usageOf(randomUUID())).toEqual([]);
  });

  it('counts again for another attempt, which the engine transcribed again', async () => {
    const firm = randomUUID();
    const first = transcribed(firm, 60);
    const second = { ...transcribed(firm, 60, { attempt: 2 }), subject: first.subject };
    await service.publish(first);
    await service.analysisOf(first);
    await service.publish(second);
    await waitUntil(async () => (await usageOf(firm))[0]?.speech_seconds === 120);
    expect(await usageOf(firm)).toMatchObject([{ speech_calls: 1, speech_cost: { amount: '0.0086' } }]);
  });

  it('stays when its call is erased', async () => {
    const firm = randomUUID();
    const event = transcribed(firm, 60);
    await service.publish(event);
    await service.analysisOf(event);
    await service.erase(event);
    await service.waitUntilIdle();
    expect(await usageOf(firm)).toMatchObject([{ speech_calls: 1, speech_seconds: 60 }]);
    const rows = await service.db.query('SELECT call_uuid FROM speech_usage WHERE firm_uuid = $1', [firm]);
    expect(rows).toEqual([{ call_uuid: null }]);
  });

  it('is not counted for transcripts that were uploaded or have no speech, and not in the spending of the month', async () => {
    const firm = randomUUID();
    const uploaded = transcribed(firm, 0, { source: 'transcription', engine: undefined, speech_seconds: undefined });
    const event = transcribed(firm, 60);
    await service.publish(uploaded, event);
    for (const each of [uploaded, event]) await service.analysisOf(each);
    expect(await usageOf(firm)).toMatchObject([{ speech_calls: 1 }]);
    expect(await service.db.query('SELECT 1 FROM spending WHERE firm_uuid = $1', [firm])).toEqual([]);
  });

  it('is rounded up to a billionth of the currency', () => {
    expect(costOfSpeech(60, PRICE)).toEqual({ amount: '0.0043', currency: 'USD' });
    expect(costOfSpeech(0.001, PRICE)).toEqual({ amount: '0.000000072', currency: 'USD' });
    expect(costOfSpeech(0, PRICE).amount).toBe('0');
    expect(costOfSpeech(360_000_000, { perMinute: 1n, currency: 'USD' }).amount).toBe('0.006');
  });
});

describe('an item of usage', () => {
  const costIn = (currency: string | null) => currency && { amount: '1', currency };
  const model = (key: string, currency: string | null) => ({ key, calls: 1, cost: costIn(currency) }) as UsageRow;
  const speech = (key: string, currency: string | null) =>
    ({ key, speech_calls: 1, speech_cost: costIn(currency) }) as SpeechRow;

  it.each([
    ['one currency', [model('a', 'USD')], [speech('a', 'USD')], [['a', 'USD', 'USD']]],
    ['prices of the model alone', [model('a', 'USD')], [speech('a', null)], [['a', 'USD', null]]],
    ['a price of speech alone', [model('a', null)], [speech('a', 'EUR')], [['a', null, 'EUR']]],
    [
      'two currencies',
      [model('a', 'USD'), model('b', 'USD')],
      [speech('a', 'EUR')],
      [
        ['a', 'USD', undefined],
        ['a', undefined, 'EUR'],
        ['b', 'USD', undefined],
      ],
    ],
  ])('has the model and speech of a key: %s', async (_name, models, speeches, expected) => {
    const money = { usage: async () => models, speech: async () => speeches } as never;
    const items = await listUsage(money, randomUUID(), { group_by: 'day' });
    const known = (calls: number, cost: { currency: string } | null) =>
      calls === 0 ? undefined : (cost?.currency ?? null);
    expect(
      items.map(({ key, calls, cost, speech_calls, speech_cost }) => [
        key,
        known(calls, cost),
        known(speech_calls, speech_cost),
      ]),
    ).toEqual(expected);
  });
});
