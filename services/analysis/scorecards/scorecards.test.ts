import { randomUUID } from 'node:crypto';
import { RevisionPage, Scorecard, ScorecardPage } from '@call-analysis/api/scorecards';
import { phrasesOf } from '@call-analysis/events';
import type { ScorecardReply } from '@call-analysis/proto/analysis/v1/ScorecardReply';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { z } from 'zod';
import { ruleAnalyst } from '../analysts/rule-analyst.ts';
import { estimateAnalyses } from '../money/money-rpcs.ts';
import { type CallAnalyzedEvent, TestService, transcriptReady } from '../test/test-service.ts';
import { defaultScorecard } from './default-scorecard.ts';

const service = new TestService(ruleAnalyst, 2);

let caller: { firm_uuid: string; user_uuid: string };

beforeEach(() => {
  caller = { firm_uuid: randomUUID(), user_uuid: randomUUID() };
});

interface ReplySection {
  readonly questions: readonly { readonly uuid: string; readonly text: string }[];
}

/** A document with one question: did the operator say the word? */
function documentAbout(word: string, change: object = {}, question: object = {}): string {
  return JSON.stringify({
    name: `About ${word}`,
    sections: [
      {
        name: 'Only',
        questions: [
          {
            text: `Was ${word} said?`,
            weight: 1,
            choices: [
              { label: 'Yes', points: 1 },
              { label: 'No', points: 0 },
            ],
            decided: {
              by: 'rule',
              cases: [{ heard: { role: 'operator', source: { phrases: { en: [word] } } }, answer: 'Yes' }],
              otherwise: 'No',
            },
            ...question,
          },
        ],
      },
    ],
    ...change,
  });
}

async function create(document: string): Promise<{ uuid: string; reply: ScorecardReply; sections: ReplySection[] }> {
  const reply = await service.client.createScorecard({ caller, document });
  return { uuid: reply.scorecard!.uuid, reply, sections: JSON.parse(reply.sections_json) as ReplySection[] };
}

const activate = (scorecard_uuid: string) => service.client.activateScorecard({ caller, scorecard_uuid });

function revise(scorecard_uuid: string, expected_revision: number, document: string) {
  return service.client.reviseScorecard({ caller, scorecard_uuid, expected_revision, document });
}

/** The analysis of a new call of the firm. */
async function score(
  segmentType: string,
  ...words: string[]
): Promise<NonNullable<CallAnalyzedEvent['data']['analysis']>> {
  const event = transcriptReady(
    [
      ['operator', words.join(' ')],
      ['client', 'yes'],
    ],
    {
      firmuuid: caller.firm_uuid,
      segment_type: segmentType,
      language: 'en',
    },
  );
  await service.publish(event);
  const { data } = await service.analysisOf(event);
  return data.analysis!;
}

describe('a firm', () => {
  it('has the default scorecard, active, before its first call', async () => {
    const { count, items } = await service.client.listScorecards({ caller, page: 1, size: 10 });
    expect(count).toBe(1);
    expect(items).toMatchObject([{ name: defaultScorecard.name, is_active: true, revision: 1 }]);
    expect(items[0]?.segment_type).toBeUndefined();
    const { sections_json } = await service.client.getScorecard({ caller, scorecard_uuid: items[0]!.uuid });
    expect(JSON.parse(sections_json)).toEqual(defaultScorecard.sections);
    expect((await score('support', 'Hello')).scorecard.uuid).toBe(items[0]!.uuid);
  });

  it('has one default scorecard even when many requests for it run at the same time', async () => {
    for (let round = 0; round < 20; round++) {
      const other = { ...caller, firm_uuid: randomUUID() };
      const pages = await Promise.all(
        Array.from({ length: 10 }, () => service.client.listScorecards({ caller: other, page: 1, size: 10 })),
      );
      expect(new Set(pages.flatMap(({ items }) => items.map(({ uuid }) => uuid))).size).toBe(1);
    }
  });

  it('cannot see or change the scorecards of another firm', async () => {
    const { uuid } = await create(documentAbout('alpha'));
    caller = { firm_uuid: randomUUID(), user_uuid: randomUUID() };
    const request = { caller, scorecard_uuid: uuid };
    await expect(service.client.getScorecard(request)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(service.client.activateScorecard(request)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(service.client.listRevisions({ ...request, page: 1, size: 10 })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(revise(uuid, 1, documentAbout('beta'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await service.client.listScorecards({ caller, page: 1, size: 10 })).count).toBe(1);
  });

  it('lists its scorecards in pages, newest first', async () => {
    for (const word of ['one', 'two', 'three']) await create(documentAbout(word));
    const pages = await Promise.all([1, 2, 3].map((page) => service.client.listScorecards({ caller, page, size: 2 })));
    expect(pages.map(({ count }) => count)).toEqual([4, 4, 4]);
    expect(pages.flatMap(({ items }) => items.map(({ name }) => name))).toEqual([
      'About three',
      'About two',
      'About one',
      defaultScorecard.name,
    ]);
  });
});

describe('a call is scored by', () => {
  it('the active scorecard of its segment type, else the active one without a segment type; a new scorecard counts once it is activated', async () => {
    const own = await create(documentAbout('alpha', { segment_type: 'sales' }));
    const general = await create(documentAbout('beta'));
    expect((await score('sales', 'alpha')).scorecard.name).toBe(defaultScorecard.name);
    await activate(own.uuid);
    expect((await score('sales', 'alpha')).scorecard).toEqual({ uuid: own.uuid, name: 'About alpha', revision: 1 });
    expect((await score('support', 'alpha')).scorecard.name).toBe(defaultScorecard.name);
    await activate(general.uuid);
    const analysis = await score('support', 'beta');
    expect(analysis.scorecard).toEqual({ uuid: general.uuid, name: 'About beta', revision: 1 });
    expect(analysis).toMatchObject({
      score: 100,
      sections: [{ questions: [{ answer: 'Yes', evidence: [{ quote: 'beta' }] }] }],
    });
    expect((await score('sales', 'alpha')).scorecard.uuid).toBe(own.uuid);
  });

  it('the newest revision, while calls that were scored keep their revision', async () => {
    const { uuid, sections } = await create(documentAbout('alpha'));
    await activate(uuid);
    expect(await score('support', 'beta')).toMatchObject({ score: 0, scorecard: { revision: 1 } });
    const kept = { uuid: sections[0]!.questions[0]!.uuid };
    const revised = await revise(uuid, 1, documentAbout('beta', {}, kept));
    expect(revised.scorecard).toMatchObject({ revision: 2, is_active: true, name: 'About beta' });
    const now = await score('support', 'beta');
    expect(now).toMatchObject({ score: 100, scorecard: { revision: 2 }, sections: [{ questions: [kept] }] });
    const first = await service.client.getScorecard({ caller, scorecard_uuid: uuid, revision: 1 });
    expect(first.scorecard).toMatchObject({ revision: 1, name: 'About alpha' });
    expect(JSON.parse(first.sections_json)).toEqual(sections);
    const { count, items } = await service.client.listRevisions({
      caller,
      scorecard_uuid: uuid,
      page: 1,
      size: 10,
    });
    expect(count).toBe(2);
    expect(items).toMatchObject([
      { revision: 2, name: 'About beta', created_by: caller.user_uuid },
      { revision: 1, name: 'About alpha', created_by: caller.user_uuid },
    ]);
  });
});

describe('a revision', () => {
  it('based on any but the newest revision is refused, and the refusal says who made the newest and what it changed', async () => {
    const { uuid } = await create(documentAbout('alpha'));
    await revise(uuid, 1, documentAbout('beta'));
    await expect(revise(uuid, 1, documentAbout('gamma'))).rejects.toMatchObject({
      kind: 'stale',
      code: 'REVISION_CONFLICT',
      details: {
        revision: 2,
        by: caller.user_uuid,
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        questions: [
          { text: expect.stringContaining('beta'), change: 'added' },
          { text: expect.stringContaining('alpha'), change: 'removed' },
        ],
      },
    });
    await expect(revise(uuid, 3, documentAbout('gamma'))).rejects.toMatchObject({ code: 'REVISION_CONFLICT' });
  });

  it('is accepted once when many are sent at the same time, and the others are refused', async () => {
    const { uuid } = await create(documentAbout('alpha'));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, at) => revise(uuid, 1, documentAbout(`word${at}`))),
    );
    const accepted = outcomes.filter(({ status }) => status === 'fulfilled');
    expect(accepted).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'REVISION_CONFLICT' });
    }
    const { count } = await service.client.listRevisions({ caller, scorecard_uuid: uuid, page: 1, size: 1 });
    expect(count).toBe(2);
  });

  it('may contain questions of the revision it is based on, and its new questions get a uuid', async () => {
    const { uuid, sections } = await create(documentAbout('alpha'));
    const old = sections[0]!.questions[0]!.uuid;
    const fresh = await revise(uuid, 1, documentAbout('beta'));
    const [{ questions }] = JSON.parse(fresh.sections_json) as [ReplySection];
    expect(questions[0]?.uuid).not.toBe(old);
    await expect(revise(uuid, 2, documentAbout('beta', {}, { uuid: old }))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { fields: [{ field: 'sections.0.questions.0.uuid', code: 'UNKNOWN_QUESTION' }] },
    });
  });
});

describe('activation', () => {
  it('leaves one active scorecard for each segment type when many are activated at the same time', async () => {
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        create(documentAbout(`word${at}`, { segment_type: at % 2 === 0 ? 'sales' : null })),
      ),
    );
    await Promise.all([...made, ...made].map(({ uuid }) => activate(uuid)));
    const rows = await service.db.query<{ segment_type: string | null; count: number }>(
      'SELECT segment_type, count(*) FROM scorecard WHERE firm_uuid = $1 AND is_active GROUP BY 1 ORDER BY 1',
      [caller.firm_uuid],
    );
    expect(rows).toEqual([
      { segment_type: 'sales', count: 1 },
      { segment_type: null, count: 1 },
    ]);
  });

  it('can return to the default scorecard, and can be repeated', async () => {
    const { uuid } = await create(documentAbout('alpha'));
    await activate(uuid);
    const { items } = await service.client.listScorecards({ caller, page: 1, size: 10 });
    const first = items.find(({ name }) => name === defaultScorecard.name)!;
    expect(first.is_active).toBe(false);
    await activate(first.uuid);
    expect((await activate(first.uuid)).scorecard?.is_active).toBe(true);
    expect((await score('support', 'alpha')).scorecard.uuid).toBe(first.uuid);
  });
});

describe('a document', () => {
  it('with an unknown segment type or question is refused, and nothing is stored', async () => {
    const document = documentAbout('alpha', { segment_type: 'billing' }, { uuid: randomUUID() });
    await expect(service.client.createScorecard({ caller, document })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { fields: [{ field: 'segment_type', code: 'UNKNOWN_SEGMENT_TYPE' }, { code: 'UNKNOWN_QUESTION' }] },
    });
    expect(await service.db.query('SELECT FROM scorecard WHERE firm_uuid = $1', [caller.firm_uuid])).toEqual([]);
  });

  it('with a question for a language model leaves it open, and there is no answer to review', async () => {
    const { uuid } = await create(documentAbout('alpha', {}, { decided: { by: 'model', instructions: 'Be fair.' } }));
    await activate(uuid);
    expect(await score('support', 'alpha')).toMatchObject({
      score: null,
      sections: [
        {
          score: null,
          questions: [
            { answer: null, points: null, not_applicable: false, needs_review: false, evidence_absent: false },
          ],
        },
      ],
    });
  });
});

it('without a language model an analysis takes no tokens and has no cost', async () => {
  const { uuid } = await create(documentAbout('hello'));
  await service.client.activateScorecard({ caller, scorecard_uuid: uuid });
  for (const named of [{}, { scorecard_uuid: uuid }]) {
    const estimate = await service.client.estimateAnalyses({ caller, calls: 100, text_bytes: 1e6, ...named });
    expect(estimate).toEqual({ calls: 100, input_tokens: 0, output_tokens: 0, cost: null });
  }
});

describe('a trial', () => {
  it('scores a call by a changed document or the newest revision, and stores nothing', async () => {
    const { uuid } = await create(documentAbout('bonus'));
    const call = {
      call_uuid: randomUUID(),
      segment_type: 'support',
      operator_name: 'Ann',
      duration: null,
      language: 'en',
      utterances: [{ role: 'operator', text: 'Take the discount', start: null, end: null }],
    };
    const attempt = (draft = 'null') =>
      service.client.tryScorecard({ caller, scorecard_uuid: uuid, call, draft: JSON.parse(draft) ?? undefined });
    expect(await attempt()).toMatchObject({ score: 0, scorecard: { uuid, revision: 1 } });
    expect(await attempt(documentAbout('discount'))).toMatchObject({ score: 100 });
    expect(await attempt()).toMatchObject({ score: 0 });
    const { items } = await service.client.listRevisions({ caller, scorecard_uuid: uuid, page: 1, size: 10 });
    expect(items).toHaveLength(1);
    await expect(attempt('{"name":""}')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    caller = { ...caller, firm_uuid: randomUUID() };
    await expect(attempt()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

it('has the shape of the API for a gateway that reads it, in a list, alone and by its revisions', async () => {
  const reader = { ...caller, reads_json: true };
  const shaped = (schema: z.ZodType, { json }: { readonly json?: Buffer }) => {
    const answer = JSON.parse(json!.toString()) as unknown;
    expect(schema.parse(answer)).toEqual(answer);
    return answer;
  };
  const page = { caller: reader, page: 1, size: 10 };
  const { items } = shaped(ScorecardPage, await service.client.listScorecards(page)) as { items: [{ uuid: string }] };
  const scorecard_uuid = items[0].uuid;
  shaped(Scorecard, await service.client.getScorecard({ caller: reader, scorecard_uuid }));
  shaped(RevisionPage, await service.client.listRevisions({ ...page, scorecard_uuid }));
});

describe('the default scorecard of a later release', () => {
  const offered = () => service.client.getDefaultScorecard({ caller });

  it('is what a new firm has', async () => {
    const { scorecard_uuid, revision, is_current, sections } = await offered();
    const stored = await service.client.getScorecard({ caller, scorecard_uuid });
    expect([revision, stored.scorecard?.is_active, is_current]).toEqual([1, true, true]);
    expect(JSON.parse(stored.sections_json)).toEqual(sections);
  });

  it('changes nothing of a firm that has an earlier one until it is taken, with questions of the same uuids', async () => {
    const uuid = (await offered()).scorecard_uuid;
    // Earlier defaults had other questions and decided some of them by phrases.
    const heard = {
      role: 'operator',
      source: { lexicon: 'courtesy' },
      where: 'anywhere',
      even_negated: false,
      at_least: 1,
    };
    const rule = {
      by: 'rule',
      applies: { spoke: [], heard: null },
      cases: [{ heard, answer: 'Yes' }],
      otherwise: 'No',
    };
    await service.db.query(
      `UPDATE scorecard_revision SET body = jsonb_set(body::jsonb, '{sections}',
         jsonb_build_array(jsonb_set(jsonb_set(body::jsonb #> '{sections,1}', '{questions,4,decided}', $2::jsonb), '{name}', '"Old"')))
       WHERE scorecard_uuid = $1`,
      [uuid, JSON.stringify(rule)],
    );
    const { is_current, is_edited, name, sections, revision } = await offered();
    expect([is_current, is_edited, revision]).toEqual([false, false, 1]);
    const before = await score('support', 'Good morning, please hold.');
    expect(before.scorecard.revision).toBe(1);
    expect(before.sections.map((section) => section.name)).toEqual(['Old']);
    expect(before.sections[0]!.questions[4]).toMatchObject({ answer: null, decided_by: 'rule', needs_review: true });

    const document = JSON.stringify({ name, segment_type: null, sections });
    await revise(uuid, 1, document);
    expect(await offered()).toMatchObject({ is_current: true, is_edited: true, revision: 2 });
    const after = await score('support', 'Good morning, please hold.');
    expect([after.scorecard.revision, after.sections.length]).toEqual([2, 3]);
    expect(after.sections[0]!.questions[0]).toMatchObject({ answer: 'Yes', decided_by: 'rule', needs_review: false });
    const old = await service.client.getScorecard({ caller, scorecard_uuid: uuid, revision: 1 });
    expect(JSON.parse(old.sections_json)).toMatchObject([{ name: 'Old' }]);
  });

  it('costs more by the estimate when more of its questions are for the model', () => {
    const ruled = structuredClone(defaultScorecard);
    for (const { questions } of ruled.sections) {
      for (const question of questions) {
        const phrases = phrasesOf(question.decided);
        if (phrases !== null) question.decided = { by: 'rule', ...phrases };
      }
    }
    const [less, more] = [ruled, defaultScorecard].map((each) => estimateAnalyses(10, 10_000, each, undefined));
    expect(more!.output_tokens).toBeGreaterThan(less!.output_tokens);
    expect(more!.input_tokens).toBeGreaterThan(less!.input_tokens);
  });
});
