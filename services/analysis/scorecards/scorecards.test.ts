import { randomUUID } from 'node:crypto';
import type { ScorecardReply } from '@call-analysis/proto/analysis/v1/ScorecardReply';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { ruleAnalyst } from '../analysts/rule-analyst.ts';
import { type Analyzed, AnalysisUnderTest, ready } from '../test/test-service.ts';
import { defaultScorecard } from './default-scorecard.ts';

const service = new AnalysisUnderTest(ruleAnalyst, 2);

let caller: { firm_uuid: string; user_uuid: string };

beforeEach(() => {
  caller = { firm_uuid: randomUUID(), user_uuid: randomUUID() };
});

interface Shown {
  readonly questions: readonly { readonly uuid: string; readonly text: string }[];
}

/** A document with one question: did the operator say the word? */
function listensFor(word: string, more: object = {}, question: object = {}): string {
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
    ...more,
  });
}

async function make(document: string): Promise<{ uuid: string; reply: ScorecardReply; sections: Shown[] }> {
  const reply = await service.scorecards.createScorecard({ caller, document });
  return { uuid: reply.scorecard!.uuid, reply, sections: JSON.parse(reply.sections_json) as Shown[] };
}

const activate = (scorecard_uuid: string) => service.scorecards.activateScorecard({ caller, scorecard_uuid });

function revise(scorecard_uuid: string, expected_revision: number, document: string) {
  return service.scorecards.reviseScorecard({ caller, scorecard_uuid, expected_revision, document });
}

/** How a call of the firm is scored now. */
async function scored(segmentType: string, ...words: string[]): Promise<NonNullable<Analyzed['data']['analysis']>> {
  const event = ready(
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
  const { data } = await service.verdictOn(event);
  return data.analysis!;
}

describe('a firm', () => {
  it('begins with the default scorecard in force, before any call', async () => {
    const { count, items } = await service.scorecards.listScorecards({ caller, page: 1, size: 10 });
    expect(count).toBe(1);
    expect(items).toMatchObject([{ name: defaultScorecard.name, is_active: true, revision: 1 }]);
    expect(items[0]?.segment_type).toBeUndefined();
    const { sections_json } = await service.scorecards.getScorecard({ caller, scorecard_uuid: items[0]!.uuid });
    expect(JSON.parse(sections_json)).toEqual(defaultScorecard.sections);
    expect((await scored('support', 'Hello')).scorecard.uuid).toBe(items[0]!.uuid);
  });

  it('begins with one, however many ask for it at once', async () => {
    for (let round = 0; round < 20; round++) {
      const asker = { ...caller, firm_uuid: randomUUID() };
      const pages = await Promise.all(
        Array.from({ length: 10 }, () => service.scorecards.listScorecards({ caller: asker, page: 1, size: 10 })),
      );
      expect(new Set(pages.flatMap(({ items }) => items.map(({ uuid }) => uuid))).size).toBe(1);
    }
  });

  it('neither sees nor touches another firm’s scorecards', async () => {
    const { uuid } = await make(listensFor('alpha'));
    caller = { firm_uuid: randomUUID(), user_uuid: randomUUID() };
    const asked = { caller, scorecard_uuid: uuid };
    await expect(service.scorecards.getScorecard(asked)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(service.scorecards.activateScorecard(asked)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(service.scorecards.listRevisions({ ...asked, page: 1, size: 10 })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(revise(uuid, 1, listensFor('beta'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await service.scorecards.listScorecards({ caller, page: 1, size: 10 })).count).toBe(1);
  });

  it('lists its scorecards page by page, the newest first', async () => {
    for (const word of ['one', 'two', 'three']) await make(listensFor(word));
    const pages = await Promise.all(
      [1, 2, 3].map((page) => service.scorecards.listScorecards({ caller, page, size: 2 })),
    );
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
  it('the active scorecard of its segment type, else the firm’s active default, and a new one only when activated', async () => {
    const own = await make(listensFor('alpha', { segment_type: 'sales' }));
    const general = await make(listensFor('beta'));
    expect((await scored('sales', 'alpha')).scorecard.name).toBe(defaultScorecard.name);
    await activate(own.uuid);
    expect((await scored('sales', 'alpha')).scorecard).toEqual({ uuid: own.uuid, name: 'About alpha', revision: 1 });
    expect((await scored('support', 'alpha')).scorecard.name).toBe(defaultScorecard.name);
    await activate(general.uuid);
    const analysis = await scored('support', 'beta');
    expect(analysis.scorecard).toEqual({ uuid: general.uuid, name: 'About beta', revision: 1 });
    expect(analysis).toMatchObject({
      score: 100,
      sections: [{ questions: [{ answer: 'Yes', evidence: [{ quote: 'beta' }] }] }],
    });
    expect((await scored('sales', 'alpha')).scorecard.uuid).toBe(own.uuid);
  });

  it('the newest revision, and what was scored keeps its own', async () => {
    const { uuid, sections } = await make(listensFor('alpha'));
    await activate(uuid);
    expect(await scored('support', 'beta')).toMatchObject({ score: 0, scorecard: { revision: 1 } });
    const kept = { uuid: sections[0]!.questions[0]!.uuid };
    const revised = await revise(uuid, 1, listensFor('beta', {}, kept));
    expect(revised.scorecard).toMatchObject({ revision: 2, is_active: true, name: 'About beta' });
    const now = await scored('support', 'beta');
    expect(now).toMatchObject({ score: 100, scorecard: { revision: 2 }, sections: [{ questions: [kept] }] });
    const rows = await service.db.query<{ revision: number }>(
      'SELECT revision FROM analysis WHERE firm_uuid = $1 ORDER BY revision',
      [caller.firm_uuid],
    );
    expect(rows).toEqual([{ revision: 1 }, { revision: 2 }]);
    const first = await service.scorecards.getScorecard({ caller, scorecard_uuid: uuid, revision: 1 });
    expect(first.scorecard).toMatchObject({ revision: 1, name: 'About alpha' });
    expect(JSON.parse(first.sections_json)).toEqual(sections);
    const { count, items } = await service.scorecards.listRevisions({
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

describe('revising', () => {
  it('an older revision than the newest is refused, naming the newest', async () => {
    const { uuid } = await make(listensFor('alpha'));
    await revise(uuid, 1, listensFor('beta'));
    await expect(revise(uuid, 1, listensFor('gamma'))).rejects.toMatchObject({
      kind: 'stale',
      code: 'REVISION_CONFLICT',
      details: { revision: 2 },
    });
    await expect(revise(uuid, 3, listensFor('gamma'))).rejects.toMatchObject({ code: 'REVISION_CONFLICT' });
  });

  it('at once, one of many wins and the others are told', async () => {
    const { uuid } = await make(listensFor('alpha'));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, at) => revise(uuid, 1, listensFor(`word${at}`))),
    );
    const won = outcomes.filter(({ status }) => status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'REVISION_CONFLICT' });
    }
    const { count } = await service.scorecards.listRevisions({ caller, scorecard_uuid: uuid, page: 1, size: 1 });
    expect(count).toBe(2);
  });

  it('takes the questions of the revision it changes, and gives new ones a uuid', async () => {
    const { uuid, sections } = await make(listensFor('alpha'));
    const old = sections[0]!.questions[0]!.uuid;
    const fresh = await revise(uuid, 1, listensFor('beta'));
    const [{ questions }] = JSON.parse(fresh.sections_json) as [Shown];
    expect(questions[0]?.uuid).not.toBe(old);
    await expect(revise(uuid, 2, listensFor('beta', {}, { uuid: old }))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { fields: [{ field: 'sections.0.questions.0.uuid', code: 'UNKNOWN_QUESTION' }] },
    });
  });
});

describe('activating', () => {
  it('leaves one active for each segment type, however many are activated at once', async () => {
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        make(listensFor(`word${at}`, { segment_type: at % 2 === 0 ? 'sales' : null })),
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

  it('may go back to the scorecard that the firm began with, and be repeated', async () => {
    const { uuid } = await make(listensFor('alpha'));
    await activate(uuid);
    const { items } = await service.scorecards.listScorecards({ caller, page: 1, size: 10 });
    const first = items.find(({ name }) => name === defaultScorecard.name)!;
    expect(first.is_active).toBe(false);
    await activate(first.uuid);
    expect((await activate(first.uuid)).scorecard?.is_active).toBe(true);
    expect((await scored('support', 'alpha')).scorecard.uuid).toBe(first.uuid);
  });
});

describe('a document', () => {
  it('with an unknown segment type or question is refused, and nothing is kept of it', async () => {
    const document = listensFor('alpha', { segment_type: 'billing' }, { uuid: randomUUID() });
    await expect(service.scorecards.createScorecard({ caller, document })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { fields: [{ field: 'segment_type', code: 'UNKNOWN_SEGMENT_TYPE' }, { code: 'UNKNOWN_QUESTION' }] },
    });
    expect(await service.db.query('SELECT FROM scorecard WHERE firm_uuid = $1', [caller.firm_uuid])).toEqual([]);
  });

  it('that leaves a question to a model is answered not applicable and put before a human', async () => {
    const { uuid } = await make(listensFor('alpha', {}, { decided: { by: 'model', instructions: 'Be fair.' } }));
    await activate(uuid);
    expect(await scored('support', 'alpha')).toMatchObject({
      score: null,
      sections: [
        {
          score: null,
          questions: [{ answer: null, points: null, not_applicable: true, needs_review: true, evidence_absent: false }],
        },
      ],
    });
  });
});
