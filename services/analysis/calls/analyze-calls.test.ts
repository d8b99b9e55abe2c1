import { randomUUID } from 'node:crypto';
import { CallAnalyzed, CallFailed } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { waitUntil } from '@call-analysis/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Analyst } from '../analysts/analyst.ts';
import { ruleAnalyst } from '../analysts/rule-analyst.ts';
import { defaultScorecard } from '../scorecards/default-scorecard.ts';
import { AnalysisUnderTest, ready, utterancesOf } from '../test/test-service.ts';

const talk = [
  ['operator', 'Good afternoon, Acme support, my name is Anna. How can I help you?'],
  ['client', 'Hello, my internet has been down since this morning and I am upset.'],
  ['operator', 'I am sorry to hear that. I have restarted your line, please check now.'],
  ['client', 'It works again, thank you!'],
  ['operator', 'You are welcome. Is there anything else I can help with? Goodbye!'],
] as const;

/** What this analyst cannot bear to hear, how often it is still to fail at it, and how often and when it has. */
const unbearable = new Map<
  string,
  { error: Error; left: number; failed: number; at: number; beforeRetry: () => Promise<unknown> }
>();

/** `beforeRetry` is waited for when it is heard anew after a pause. */
function unbearableFor(times: number, error: Error, beforeRetry: () => Promise<unknown> = async () => {}): string {
  const word = randomUUID();
  unbearable.set(word, { error, left: times, failed: 0, at: 0, beforeRetry });
  return word;
}

/** All that this analyst was asked about. */
const asked: string[] = [];

const analyst: Analyst = {
  name: ruleAnalyst.name,
  version: ruleAnalyst.version,
  async analyze(conversation, scorecard) {
    asked.push(...conversation.utterances.map(({ text }) => text));
    for (const { text } of conversation.utterances) {
      const heard = unbearable.get(text);
      if (heard === undefined || heard.failed >= heard.left) continue;
      if (heard.failed > 0 && performance.now() - heard.at > 500) await heard.beforeRetry();
      heard.failed++;
      heard.at = performance.now();
      throw heard.error;
    }
    return ruleAnalyst.analyze(conversation, scorecard);
  },
};

const service = new AnalysisUnderTest(analyst, 2);

describe('a transcript', () => {
  it('is analysed under the default scorecard of its firm, and the result says by whom and of which attempt', async () => {
    const event = ready(talk, { attempt: 3, priority: 7 });
    await service.publish(event);
    const said = await service.verdictOn(event);
    expect(said).toMatchObject({ type: CallAnalyzed.type, source: 'analysis', firmuuid: event.firmuuid, priority: 7 });
    expect(said.data).toMatchObject({ attempt: 3, outcome: 'scored', language: 'en' });
    const analysis = said.data.analysis!;
    expect(analysis.analyst).toEqual({ name: ruleAnalyst.name, version: ruleAnalyst.version });
    expect(analysis.scorecard).toMatchObject({ name: defaultScorecard.name, revision: 1 });
    expect(analysis.sections.map(({ name }) => name)).toEqual(defaultScorecard.sections.map(({ name }) => name));
    expect(analysis.score).toBeGreaterThan(0);
    for (const { evidence } of analysis.sections.flatMap(({ questions }) => questions)) {
      for (const { utterance, quote, start_char, end_char } of evidence) {
        expect(talk[utterance]?.[1].slice(start_char, end_char)).toBe(quote);
      }
    }
    const rows = await service.db.query('SELECT uuid, call_uuid, attempt, score FROM analysis WHERE firm_uuid = $1', [
      event.firmuuid,
    ]);
    expect(rows).toEqual([
      { uuid: said.data.analysis_uuid, call_uuid: event.subject, attempt: 3, score: analysis.score },
    ]);
  });

  it('said twice, inline or by object key, by any replica, gets the same verdict', async () => {
    const firmuuid = randomUUID();
    const key = `transcripts/${firmuuid}/${randomUUID()}/1.json`;
    await service.put(key, JSON.stringify({ utterances: utterancesOf(talk) }));
    const events = [...Array.from({ length: 30 }, () => ready(talk, { firmuuid })), ready({ key }, { firmuuid })];
    await service.publish(...events);
    const verdicts = await Promise.all(
      events.map(async (event) => {
        const { analysis, language } = (await service.verdictOn(event)).data;
        return { ...analysis, created_at: null, language };
      }),
    );
    for (const verdict of verdicts) expect(verdict).toEqual(verdicts[0]);
  });

  it('in which nothing is said is answered with no_speech, and no analysis is kept', async () => {
    const event = ready([], { language: 'ru' });
    await service.publish(event);
    const { data } = await service.verdictOn(event);
    expect(data).toMatchObject({ outcome: 'no_speech', language: 'ru', analysis: null });
    expect(await service.db.query('SELECT FROM analysis WHERE call_uuid = $1', [event.subject])).toEqual([]);
  });

  it('keeps the language it came with; without one it is recognised', async () => {
    const given = ready(talk, { language: 'ky' });
    const found = ready(
      [
        ['operator', 'Здравствуйте, чем могу помочь?'],
        ['client', 'У меня не работает интернет, что делать?'],
      ],
      { tags: ['оператор', 'клиент'] },
    );
    await service.publish(given, found);
    expect((await service.verdictOn(given)).data.language).toBe('ky');
    expect((await service.verdictOn(found)).data.language).toBe('ru');
  });

  it('is analysed once however often its event comes, together or later', async () => {
    const event = ready(talk);
    await Promise.all([service.publish(event, event), service.publish(event)]);
    const first = await service.verdictOn(event);
    await service.publish(event);
    await service.settled();
    expect(service.analyzed.filter(({ subject }) => subject === event.subject)).toEqual([first]);
    expect(await service.db.query('SELECT FROM analysis WHERE call_uuid = $1', [event.subject])).toHaveLength(1);
  });

  it('that was analysed is not put before the analyst again when its event comes later, as after a reset of how far they were read', async () => {
    const word = randomUUID();
    const event = ready([['client', word]]);
    await service.publish(event);
    await service.verdictOn(event);
    await service.settled();
    await service.publish(event);
    await service.settled();
    expect(asked.filter((text) => text === word)).toHaveLength(1);
  });

  it('of a later attempt is analysed anew', async () => {
    const event = ready(talk);
    const again = ready(talk, { subject: event.subject, firmuuid: event.firmuuid, attempt: 2 });
    await service.publish(event, again);
    await waitUntil(() => service.analyzed.filter(({ subject }) => subject === event.subject).length === 2);
    expect(
      await service.db.query('SELECT attempt FROM analysis WHERE call_uuid = $1 ORDER BY attempt', [event.subject]),
    ).toEqual([{ attempt: 1 }, { attempt: 2 }]);
  });
});

describe('the default scorecard of a firm', () => {
  it('is made once, even when its first calls come at the same instant to several replicas', async () => {
    const firms = Array.from({ length: 12 }, () => randomUUID());
    const events = firms.flatMap((firmuuid) => Array.from({ length: 5 }, () => ready(talk, { firmuuid })));
    await Promise.all(events.map((event) => service.publish(event)));
    const verdicts = await Promise.all(events.map((event) => service.verdictOn(event)));
    const rows = await service.db.query<{ firm: string; uuid: string; revision: number }>(
      `SELECT firm_uuid AS firm, uuid, scorecard.revision FROM scorecard JOIN scorecard_revision ON scorecard_uuid = uuid
       WHERE is_default AND firm_uuid = ANY($1)`,
      [firms],
    );
    expect(rows.map(({ firm }) => firm).toSorted()).toEqual(firms.toSorted());
    const own = new Map(rows.map(({ firm, uuid }) => [firm, uuid]));
    for (const { firmuuid, data } of verdicts) expect(data.analysis?.scorecard.uuid).toBe(own.get(firmuuid));
    expect(new Set(own.values()).size).toBe(12);
  });
});

describe('a conversation that the analyst cannot answer', () => {
  const firmuuid = randomUUID();
  const away = new Fault('unavailable', 'MODEL_AWAY', 'The model does not answer.');
  const words = {
    // A database that stands still may keep the others for longer than the pause between two tries. Only if they are held
    // up by this one they never come, and it is given up before them.
    away: unbearableFor(Infinity, away, () => waitUntil(othersAreDone, { timeoutMs: 20_000 }).catch(() => {})),
    bug: unbearableFor(Infinity, new TypeError('cannot read "8600"')),
    once: unbearableFor(1, away),
  };
  const refused = ready([['client', words.away]], { firmuuid, attempt: 2, priority: 4 });
  const stumbled = ready([['client', words.bug]], { firmuuid });
  const later = ready([['client', words.once]], { firmuuid });
  const neighbours = Array.from({ length: 40 }, () => ready(talk, { firmuuid }));
  let began: { at: number; dead: number };

  function othersAreDone(): boolean {
    const done = new Set(service.analyzed.map(({ subject }) => subject));
    return neighbours.every(({ subject }) => done.has(subject));
  }

  beforeAll(async () => {
    began = { at: Date.now(), dead: (await service.depth()).dead };
    await service.publish(...neighbours.slice(0, 20), refused, stumbled, later, ...neighbours.slice(20));
  });

  it('does not hold up the others of its batch, each of which is analysed once', async () => {
    const verdicts = await Promise.all(neighbours.map((event) => service.verdictOn(event)));
    expect(verdicts.every(({ data }) => data.outcome === 'scored')).toBe(true);
    const { time: givenUp } = await service.failureOf(refused);
    for (const { time } of verdicts) expect(time < givenUp).toBe(true);
    const subjects = new Set(neighbours.map(({ subject }) => subject));
    expect(service.analyzed.filter(({ subject }) => subjects.has(subject))).toHaveLength(neighbours.length);
  });

  it('is tried again after a pause, then said to have failed, with the analyst’s own reason', async () => {
    const failed = await service.failureOf(refused);
    expect(Date.now() - began.at).toBeGreaterThan(500);
    expect(failed).toMatchObject({ type: CallFailed.type, source: 'analysis', firmuuid, priority: 4 });
    expect(failed.data).toEqual({
      attempt: 2,
      stage: 'analysis',
      code: 'MODEL_AWAY',
      message: 'The model does not answer.',
      retryable: true,
      attempts: 2,
    });
    // A batch that fails is tried event by event, so the first try may be two.
    expect(unbearable.get(words.away)?.failed).toBeGreaterThanOrEqual(2);
  });

  it('because of a bug fails without telling what the bug said, which may quote the conversation', async () => {
    const { data } = await service.failureOf(stumbled);
    expect(data).toMatchObject({ stage: 'analysis', code: 'INTERNAL', retryable: true, attempts: 2 });
    expect(JSON.stringify(data)).not.toContain('8600');
  });

  it('for a while only is analysed at a later try, and no failure is told', async () => {
    expect((await service.verdictOn(later)).data.outcome).toBe('scored');
    await service.settled();
    expect(service.failed.some(({ subject }) => subject === later.subject)).toBe(false);
  });

  it('is counted among the dead letters, and was never said to be analysed', async () => {
    const given = await Promise.all([service.failureOf(refused), service.failureOf(stumbled)]);
    expect((await service.depth()).dead).toBe(began.dead + given.length);
    for (const { subject } of given) {
      expect(service.analyzed.some((said) => said.subject === subject)).toBe(false);
      expect(await service.db.query('SELECT FROM analysis WHERE call_uuid = $1', [subject])).toEqual([]);
    }
    expect(service.failed.filter((said) => said.firmuuid === firmuuid)).toHaveLength(given.length);
  });
});

describe('a transcript that cannot be read', () => {
  it('is looked for again when nothing stands at its object key, and fails its call in the end', async () => {
    const missing = ready({ key: `transcripts/${randomUUID()}/1.json` });
    await service.publish(missing);
    expect((await service.failureOf(missing)).data).toMatchObject({ code: 'NOT_FOUND', retryable: true, attempts: 2 });
  });

  it.each(['{"utterances":[{"role":"my card is 8600"}]}', 'my card is 8600'])(
    'fails its call at the first try when what stands there is no transcript: %s',
    async (document) => {
      const key = `transcripts/${randomUUID()}/1.json`;
      await service.put(key, document);
      const broken = ready({ key });
      await service.publish(broken);
      const { data } = await service.failureOf(broken);
      expect(data).toMatchObject({ code: 'TRANSCRIPT_UNREADABLE', retryable: true, attempts: 1 });
      expect(data.message).not.toContain('8600');
    },
  );

  it('fails its call at the first try when the event does not have its form', async () => {
    const event = ready(talk);
    await service.publish({ ...event, data: { attempt: 2, transcript: 'my card is 8600' } });
    const { data } = await service.failureOf(event);
    expect(data).toMatchObject({ attempt: 2, code: 'BODY_MISFIT', retryable: true, attempts: 1 });
    expect(data.message).not.toContain('8600');
  });
});

describe('the log', () => {
  it('never quotes what is said in a call', () => {
    for (const line of service.lines) {
      for (const [, said] of talk) expect(line).not.toContain(said);
      expect(line).not.toContain('my card');
    }
    expect(service.lines.length).toBeGreaterThan(0);
  });
});
