import { randomUUID } from 'node:crypto';
import { CallAnalyzed, CallFailed } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { waitUntil } from '@call-analysis/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Analyst } from '../analysts/analyst.ts';
import { ruleAnalyst } from '../analysts/rule-analyst.ts';
import { defaultScorecard, defaultScorecardIn } from '../scorecards/default-scorecard.ts';
import { TestService, toUtterances, transcriptReady } from '../test/test-service.ts';

const lines = [
  ['operator', 'Good afternoon, Acme support, my name is Anna. How can I help you?'],
  ['client', 'Hello, my internet has been down since this morning and I am upset.'],
  ['operator', 'I am sorry to hear that. I have restarted your line, please check now.'],
  ['client', 'It works again, thank you!'],
  ['operator', 'You are welcome. Is there anything else I can help with? Goodbye!'],
] as const;

/** The words at which the analyst fails, how often it is to fail, and how often and when it last did. */
const failures = new Map<
  string,
  { error: Error; times: number; failed: number; at: number; beforeRetry: () => Promise<unknown> }
>();

/** Returns a word at which the analyst fails. It waits for `beforeRetry` when it gets the word again after a pause. */
function failingWord(times: number, error: Error, beforeRetry: () => Promise<unknown> = async () => {}): string {
  const word = randomUUID();
  failures.set(word, { error, times, failed: 0, at: 0, beforeRetry });
  return word;
}

/** The texts of all utterances that the analyst has received. */
const received: string[] = [];

const analyst: Analyst = {
  name: ruleAnalyst.name,
  version: ruleAnalyst.version,
  model: null,
  async analyze(conversation, scorecard) {
    received.push(...conversation.utterances.map(({ text }) => text));
    for (const { text } of conversation.utterances) {
      const failure = failures.get(text);
      if (failure === undefined || failure.failed >= failure.times) continue;
      if (failure.failed > 0 && performance.now() - failure.at > 500) await failure.beforeRetry();
      failure.failed++;
      failure.at = performance.now();
      throw failure.error;
    }
    return ruleAnalyst.analyze(conversation, scorecard);
  },
};

const service = new TestService(analyst, 2);

describe('a transcript', () => {
  it('is analyzed under the default scorecard of its firm, and the result names the analyst and the attempt', async () => {
    const event = transcriptReady(lines, { attempt: 3, priority: 7 });
    await service.publish(event);
    const published = await service.analysisOf(event);
    expect(published).toMatchObject({
      type: CallAnalyzed.type,
      source: 'analysis',
      firmuuid: event.firmuuid,
      priority: 7,
    });
    expect(published.data).toMatchObject({ attempt: 3, outcome: 'scored', language: 'en' });
    const analysis = published.data.analysis!;
    expect(analysis.analyst).toEqual({ name: ruleAnalyst.name, version: ruleAnalyst.version, model: null });
    expect(analysis.scorecard).toMatchObject({ name: defaultScorecard.name, revision: 1 });
    expect(analysis.sections.map(({ name }) => name)).toEqual(defaultScorecard.sections.map(({ name }) => name));
    expect(analysis.score).toBeGreaterThan(0);
    for (const { evidence } of analysis.sections.flatMap(({ questions }) => questions)) {
      for (const { utterance, quote, start_char, end_char } of evidence) {
        expect(lines[utterance]?.[1].slice(start_char, end_char)).toBe(quote);
      }
    }
  });

  it('gets the same result from every replica, inline or by object key', async () => {
    const firmuuid = randomUUID();
    const key = `transcripts/${firmuuid}/${randomUUID()}/1.json`;
    await service.put(key, JSON.stringify({ utterances: toUtterances(lines) }));
    const events = [
      ...Array.from({ length: 30 }, () => transcriptReady(lines, { firmuuid })),
      transcriptReady({ key }, { firmuuid }),
    ];
    await service.publish(...events);
    const results = await Promise.all(
      events.map(async (event) => {
        const { analysis, language } = (await service.analysisOf(event)).data;
        return { ...analysis, created_at: null, language };
      }),
    );
    for (const result of results) expect(result).toEqual(results[0]);
  });

  it('of a recording whose channels are swapped has a note for the history, and every answer is for review', async () => {
    const swapped = lines.map(([role, text]) => [role === 'operator' ? 'client' : 'operator', text] as const);
    const event = transcriptReady(swapped, { source: 'audio' });
    const uploaded = transcriptReady(swapped);
    const right = transcriptReady(lines, { source: 'audio' });
    await service.publish(event, uploaded, right);
    const { note, analysis } = (await service.analysisOf(event)).data;
    expect(note).toMatch(/channels seem to be swapped/);
    const questions = analysis!.sections.flatMap((section) => section.questions);
    const answered = questions.filter(({ answer, not_applicable }) => answer !== null || not_applicable);
    expect(questions.filter(({ needs_review }) => needs_review)).toEqual(answered);
    expect(answered).toHaveLength(3);
    expect((await service.analysisOf(right)).data.note).toBeNull();
    // The tags of an uploaded transcript are what its sender wrote.
    expect((await service.analysisOf(uploaded)).data.note).toBeNull();
  });

  it('marks the answers for review that quote words of which the speech engine is unsure', async () => {
    const said = (confidence: number) => ({
      transcript: { utterances: toUtterances(lines).map((each) => ({ ...each, confidence })) },
    });
    const [doubtful, sure] = [transcriptReady(lines, said(0.3)), transcriptReady(lines, said(0.8))];
    await service.publish(doubtful, sure);
    const answersTo = async (event: typeof sure) =>
      (await service.analysisOf(event)).data.analysis!.sections.flatMap(({ questions }) => questions);
    const clear = await answersTo(sure);
    expect(clear.some(({ evidence, needs_review }) => evidence.length > 0 && !needs_review)).toBe(true);
    for (const [at, { evidence, needs_review }] of (await answersTo(doubtful)).entries())
      expect(needs_review).toBe(evidence.length > 0 || clear[at]!.needs_review);
  });

  it('of a new firm is scored and explained in its language, and the names that it knows are an introduction', async () => {
    const event = transcriptReady([['operator', 'Dana here, good morning.'], ...lines.slice(1, 2)], {
      operator_name: 'Dana Reed',
    });
    service.languages.set(event.firmuuid, 'es');
    await service.publish(event);
    const { analysis } = (await service.analysisOf(event)).data;
    expect(analysis!.scorecard.name).toBe(defaultScorecardIn('es').name);
    expect(analysis!.sections[0]!.questions[1]).toMatchObject({
      answer: 'Sí',
      explanation: 'Sí: el operador lo dijo una vez al principio de la llamada.',
      evidence: [{ utterance: 0, quote: 'Dana here' }],
    });
    expect(analysis!.summary).toMatch(/^Operador: |^Cliente: /);
  });

  it('without utterances has the outcome no_speech, and no analysis', async () => {
    const event = transcriptReady([], { language: 'ru' });
    await service.publish(event);
    const { data } = await service.analysisOf(event);
    expect(data).toMatchObject({ outcome: 'no_speech', language: 'ru', analysis: null });
  });

  it('keeps its language, or has its language recognized', async () => {
    const given = transcriptReady(lines, { language: 'ky' });
    const recognized = transcriptReady(
      [
        ['operator', 'Здравствуйте, чем могу помочь?'],
        ['client', 'У меня не работает интернет, что делать?'],
      ],
      { tags: ['оператор', 'клиент'] },
    );
    await service.publish(given, recognized);
    expect((await service.analysisOf(given)).data.language).toBe('ky');
    expect((await service.analysisOf(recognized)).data.language).toBe('ru');
  });

  it('is analyzed once when its event is delivered several times, together or later', async () => {
    const event = transcriptReady(lines);
    await Promise.all([service.publish(event, event), service.publish(event)]);
    const first = await service.analysisOf(event);
    await service.publish(event);
    await service.waitUntilIdle();
    expect(service.analyzed.filter(({ subject }) => subject === event.subject)).toEqual([first]);
  });

  it('is not passed to the analyst again when its event is redelivered later, as after a reset of consumer offsets', async () => {
    const word = randomUUID();
    const event = transcriptReady([['client', word]]);
    await service.publish(event);
    await service.analysisOf(event);
    await service.waitUntilIdle();
    await service.publish(event);
    await service.waitUntilIdle();
    expect(received.filter((text) => text === word)).toHaveLength(1);
  });

  it('of a later attempt is analyzed again', async () => {
    const event = transcriptReady(lines);
    const again = transcriptReady(lines, { subject: event.subject, firmuuid: event.firmuuid, attempt: 2 });
    await service.publish(event, again);
    const attempts = () =>
      service.analyzed.filter(({ subject }) => subject === event.subject).map(({ data }) => data.attempt);
    await waitUntil(() => attempts().length === 2);
    expect(attempts().toSorted()).toEqual([1, 2]);
  });
});

describe('the default scorecard of a firm', () => {
  it('is added once when its first calls reach several replicas at the same time', async () => {
    const firms = Array.from({ length: 12 }, () => randomUUID());
    const events = firms.flatMap((firmuuid) => Array.from({ length: 5 }, () => transcriptReady(lines, { firmuuid })));
    await Promise.all(events.map((event) => service.publish(event)));
    const results = await Promise.all(events.map((event) => service.analysisOf(event)));
    const rows = await service.db.query<{ firm: string; uuid: string; revision: number }>(
      `SELECT firm_uuid AS firm, uuid, scorecard.revision FROM scorecard JOIN scorecard_revision ON scorecard_uuid = uuid
       WHERE is_default AND firm_uuid = ANY($1)`,
      [firms],
    );
    expect(rows.map(({ firm }) => firm).toSorted()).toEqual(firms.toSorted());
    const own = new Map(rows.map(({ firm, uuid }) => [firm, uuid]));
    for (const { firmuuid, data } of results) expect(data.analysis?.scorecard.uuid).toBe(own.get(firmuuid));
    expect(new Set(own.values()).size).toBe(12);
  });
});

it('while the settings of a firm are unknown, its calls wait, whatever their number of tries, and their histories say for what', async () => {
  const firmuuid = randomUUID();
  service.languages.set(firmuuid, 'es');
  service.unknownFirms.add(firmuuid);
  const events = Array.from({ length: 3 }, () => transcriptReady(lines, { firmuuid }));
  await service.publish(...events);
  const reasonsOf = ({ subject }: { subject: string }) => service.waiting.filter((each) => each.subject === subject);
  await waitUntil(() => events.every((event) => reasonsOf(event).length > 0));
  expect(reasonsOf(events[0]!)[0]!.data.reason).toContain('key-management does not answer');
  service.unknownFirms.clear();
  const analyses = await Promise.all(events.map((event) => service.analysisOf(event)));
  expect(analyses[0]!.data.analysis!.scorecard.name).toBe(defaultScorecardIn('es').name);
  expect(service.failed.filter((each) => each.firmuuid === firmuuid)).toEqual([]);
});

describe('a conversation that the analyst cannot answer', () => {
  const firmuuid = randomUUID();
  const away = new Fault('unavailable', 'MODEL_AWAY', 'The model does not answer.');
  const words = {
    // A stalled database may delay the other events for longer than the pause between two tries, so the retry waits for
    // them. If this event blocks them, the wait times out, and this event is given up first.
    away: failingWord(Infinity, away, () => waitUntil(othersAreDone, { timeoutMs: 20_000 }).catch(() => {})),
    bug: failingWord(Infinity, new TypeError('cannot read "8600"')),
    once: failingWord(1, away),
  };
  const refused = transcriptReady([['client', words.away]], { firmuuid, attempt: 2, priority: 4 });
  const crashed = transcriptReady([['client', words.bug]], { firmuuid });
  const later = transcriptReady([['client', words.once]], { firmuuid });
  const others = Array.from({ length: 40 }, () => transcriptReady(lines, { firmuuid }));
  let began: { at: number; dead: number };

  function othersAreDone(): boolean {
    const done = new Set(service.analyzed.map(({ subject }) => subject));
    return others.every(({ subject }) => done.has(subject));
  }

  beforeAll(async () => {
    began = { at: Date.now(), dead: (await service.queueDepth()).dead };
    await service.publish(...others.slice(0, 20), refused, crashed, later, ...others.slice(20));
  });

  it('does not delay the others of its batch, each of which is analyzed once', async () => {
    const results = await Promise.all(others.map((event) => service.analysisOf(event)));
    expect(results.every(({ data }) => data.outcome === 'scored')).toBe(true);
    const { time: givenUp } = await service.failureOf(refused);
    for (const { time } of results) expect(time < givenUp).toBe(true);
    const subjects = new Set(others.map(({ subject }) => subject));
    expect(service.analyzed.filter(({ subject }) => subjects.has(subject))).toHaveLength(others.length);
  });

  it('is retried after a pause, then published as failed with the reason of the analyst', async () => {
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
    // A batch that fails is repeated event by event, so the first try may count twice.
    expect(failures.get(words.away)?.failed).toBeGreaterThanOrEqual(2);
  });

  it('because of a bug fails without the message of the bug, which may quote the conversation', async () => {
    const { data } = await service.failureOf(crashed);
    expect(data).toMatchObject({ stage: 'analysis', code: 'INTERNAL', retryable: true, attempts: 2 });
    expect(JSON.stringify(data)).not.toContain('8600');
  });

  it('at first is analyzed at a later try, and no failure is published', async () => {
    expect((await service.analysisOf(later)).data.outcome).toBe('scored');
    await service.waitUntilIdle();
    expect(service.failed.some(({ subject }) => subject === later.subject)).toBe(false);
  });

  it('becomes a dead letter and is never published as analyzed', async () => {
    const failed = await Promise.all([service.failureOf(refused), service.failureOf(crashed)]);
    expect((await service.queueDepth()).dead).toBe(began.dead + failed.length);
    for (const { subject } of failed) {
      expect(service.analyzed.some((event) => event.subject === subject)).toBe(false);
    }
    expect(service.failed.filter((event) => event.firmuuid === firmuuid)).toHaveLength(failed.length);
  });
});

describe('a transcript that cannot be read', () => {
  it('because the object store is away is waited for, whatever the number of tries', async () => {
    const key = `transcripts/${randomUUID()}/1.json`;
    const event = transcriptReady({ key });
    await service.setStoreAway(true);
    await service.publish(event);
    const postponed = () =>
      service.logLines.filter((line) => line.includes('"postponed"') && line.includes(event.subject));
    // An event has two tries before it is given up.
    await waitUntil(() => postponed().length >= 4);
    await service.setStoreAway(false);
    await service.put(key, JSON.stringify({ utterances: toUtterances(lines) }));
    await service.analysisOf(event);
    expect(service.failed.some(({ subject }) => subject === event.subject)).toBe(false);
  });

  it('is retried when its object does not exist, and then fails its call', async () => {
    const missing = transcriptReady({ key: `transcripts/${randomUUID()}/1.json` });
    await service.publish(missing);
    expect((await service.failureOf(missing)).data).toMatchObject({ code: 'NOT_FOUND', retryable: true, attempts: 2 });
  });

  it.each(['{"utterances":[{"role":"my card is 8600"}]}', 'my card is 8600'])(
    'fails its call at the first try when its object is not a transcript: %s',
    async (document) => {
      const key = `transcripts/${randomUUID()}/1.json`;
      await service.put(key, document);
      const broken = transcriptReady({ key });
      await service.publish(broken);
      const { data } = await service.failureOf(broken);
      expect(data).toMatchObject({ code: 'TRANSCRIPT_UNREADABLE', retryable: true, attempts: 1 });
      expect(data.message).not.toContain('8600');
    },
  );

  it('fails its call at the first try when the event has the wrong form', async () => {
    const event = transcriptReady(lines);
    await service.publish({ ...event, data: { attempt: 2, transcript: 'my card is 8600' } });
    const { data } = await service.failureOf(event);
    expect(data).toMatchObject({ attempt: 2, code: 'BODY_MISFIT', retryable: true, attempts: 1 });
    expect(data.message).not.toContain('8600');
  });
});

describe('the log', () => {
  it('never quotes a conversation', () => {
    for (const line of service.logLines) {
      for (const [, text] of lines) expect(line).not.toContain(text);
      expect(line).not.toContain('my card');
    }
    expect(service.logLines.length).toBeGreaterThan(0);
  });
});
