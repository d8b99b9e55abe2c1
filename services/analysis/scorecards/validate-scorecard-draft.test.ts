import { randomUUID } from 'node:crypto';
import { Language, Lexicon, MAX_QUESTIONS, phrasesOf, ScorecardDraft } from '@call-analysis/events';
import { Fault, type FieldFault } from '@call-analysis/fault';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { analyzeByRules } from '../analysts/rule-analyst.ts';
import { defaultScorecard } from './default-scorecard.ts';
import { questionUuids, toScorecardBody } from './scorecard.ts';
import { validateScorecardDraft, type References } from './validate-scorecard-draft.ts';

const { uuid: _uuid, revision: _revision, ...body } = structuredClone(defaultScorecard);
// The first question is decided by phrases.
const [greeting] = body.sections[0]!.questions;
greeting!.decided = { by: 'rule', ...phrasesOf(greeting!.decided)! };
const [nextStep] = body.sections[2]!.questions;
nextStep!.decided = greeting!.decided;

const known: References = {
  segmentTypes: new Set(['support', 'sales']),
  segmentType: null,
  questionUuids: questionUuids(defaultScorecard),
};

function faultsOf(document: unknown, references = known): FieldFault[] {
  try {
    validateScorecardDraft(JSON.stringify(document), references);
    return [];
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    expect([error.kind, error.code]).toEqual(['invalid', 'VALIDATION_ERROR']);
    return error.details?.['fields'] as FieldFault[];
  }
}

type Change = readonly [path: string, value: unknown];

/** The default scorecard with other values at paths of keys and indexes. */
function changed(...changes: readonly Change[]): object {
  const document = structuredClone<object>(body);
  for (const [path, value] of changes) {
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    let parent: object = document;
    for (const key of keys) parent = Reflect.get(parent, key) as object;
    Reflect.set(parent, last, value);
  }
  return document;
}

const FIRST = 'sections.0.questions.0';
const HEARD = `${FIRST}.decided.cases.0.heard`;
const many = (count: number, make: (at: number) => unknown) => Array.from({ length: count }, (_, at) => make(at));
const bare = { ...body.sections[0]!.questions[0]!, uuid: undefined };

describe('a scorecard is refused', () => {
  it.each<[string, Change, string, string]>([
    ['without a name', ['name', undefined], 'name', 'is required'],
    ['with a control character in a name', ['name', 'a\u0000b'], 'name', 'control characters'],
    ['with a right-to-left override in its name', ['name', 'a\u202eb'], 'name', 'direction of text'],
    ['with an isolate in a section’s name', ['sections.0.name', 'a\u2066b'], 'sections.0.name', 'direction of text'],
    ['with an unpaired surrogate in a name', ['name', '\ud800'], 'name', 'halves of characters'],
    ['for a segment type that the firm does not have', ['segment_type', 'suport'], 'segment_type', 'support, sales'],
    ['without sections', ['sections', []], 'sections', 'must have at least 1'],
    ['with sections that are not a list', ['sections', 'all'], 'sections', 'must be a list'],
    ['with an empty section', ['sections.0.questions', []], 'sections.0.questions', 'must have at least 1'],
    ['with a weight of zero', [`${FIRST}.weight`, 0], `${FIRST}.weight`, 'must be more than 0'],
    ['with a negative weight', [`${FIRST}.weight`, -1], `${FIRST}.weight`, 'must be more than 0'],
    [
      'with a weight that is not a number',
      [`${FIRST}.weight`, Number.NaN],
      `${FIRST}.weight`,
      'must be a number, not null',
    ],
    ['with a weight in words', [`${FIRST}.weight`, '8'], `${FIRST}.weight`, 'must be a number'],
    ['with a weight that is too large', [`${FIRST}.weight`, 1001], `${FIRST}.weight`, 'must be at most 1000'],
    [
      'where no choice gives points',
      [`${FIRST}.choices.0.points`, 0],
      `${FIRST}.choices`,
      'a choice that gives points',
    ],
    [
      'with one choice',
      [`${FIRST}.choices`, [{ label: 'Yes', points: 1 }]],
      `${FIRST}.choices`,
      'must have at least 2',
    ],
    [
      'with a case whose answer is not a choice',
      [`${FIRST}.decided.cases.0.answer`, 'Perhaps'],
      `${FIRST}.decided.cases.0.answer`,
      'choices: Yes, No',
    ],
    [
      'with a default answer that is not a choice',
      [`${FIRST}.decided.otherwise`, 'Perhaps'],
      `${FIRST}.decided.otherwise`,
      'choices: Yes, No',
    ],
    [
      'with two choices of the same label',
      [`${FIRST}.choices.1.label`, 'Yes'],
      `${FIRST}.choices.1.label`,
      'must differ',
    ],
    [
      'with the same question twice',
      ['sections.1.questions.0', body.sections[0]!.questions[0]],
      'sections.1.questions.0.uuid',
      'must differ',
    ],
    [
      'with a question that this revision does not have',
      [`${FIRST}.uuid`, randomUUID()],
      `${FIRST}.uuid`,
      'not a question of the revision',
    ],
    [
      'with an unknown lexicon',
      [`${HEARD}.source`, { lexicon: 'magic' }],
      `${HEARD}.source.lexicon`,
      'must be one of greeting',
    ],
    ['with neither lexicon nor phrases', [`${HEARD}.source`, {}], `${HEARD}.source`, 'either a lexicon or phrases'],
    [
      'with both a lexicon and phrases',
      [`${HEARD}.source`, { lexicon: 'need', phrases: { en: ['a'] } }],
      `${HEARD}.source`,
      'either a lexicon or phrases',
    ],
    [
      'with phrases in no language',
      [`${HEARD}.source`, { phrases: {} }],
      `${HEARD}.source.phrases`,
      'must name a language',
    ],
    [
      'with phrases in an unknown language',
      [`${HEARD}.source`, { phrases: { fr: ['bonjour'] } }],
      `${HEARD}.source.phrases.fr`,
      'is not a supported language',
    ],
    [
      'with an invalid phrase',
      [`${HEARD}.source`, { phrases: { en: ['hello', '..'] } }],
      `${HEARD}.source.phrases.en.1`,
      'has no word',
    ],
    ['with an unknown role', [`${HEARD}.role`, 'boss'], `${HEARD}.role`, 'must be one of operator, client'],
    [
      'with an unknown way to decide a question',
      [`${FIRST}.decided`, { by: 'dice' }],
      `${FIRST}.decided.by`,
      'must be one of rule, model',
    ],
    ['with a misspelled field name in a question', [`${FIRST}.wieght`, 1], `${FIRST}.wieght`, 'did you mean weight?'],
    ['with an unknown field', ['sections.0.color', 'red'], 'sections.0.color', 'is not known'],
    ['with a field that the service sets', ['revision', 3], 'revision', 'is set by the service'],
    [
      'with too many questions in a section',
      ['sections.0.questions', many(MAX_QUESTIONS + 1, () => bare)],
      'sections.0.questions',
      `at most ${MAX_QUESTIONS}`,
    ],
    [
      'with too many questions in total',
      ['sections.0.questions', many(MAX_QUESTIONS, () => bare)],
      'sections',
      `at most ${MAX_QUESTIONS} questions`,
    ],
    [
      'with too many different letters in its phrases',
      [
        `${HEARD}.source`,
        {
          phrases: {
            en: many(200, (at) =>
              String.fromCodePoint(...(many(200, (unit) => 0x4e00 + at * 20 + Number(unit)) as number[])),
            ),
          },
        },
      ],
      'sections',
      'fewer different letters',
    ],
  ])('%s', (_name, change, field, message) => {
    const faults = faultsOf(changed(change));
    expect(faults).toContainEqual(expect.objectContaining({ field, message: expect.stringContaining(message) }));
  });

  it.each(
    ['name', 'sections.0.name', `${FIRST}.text`, `${FIRST}.choices.0.label`].flatMap((field) =>
      ['', ' \u00a0'].map((text) => [field, text] as const),
    ),
  )('with %s of blanks alone (%j), which is required', (field, text) => {
    const required = { field, code: 'REQUIRED', message: 'must not be empty' };
    expect(faultsOf(changed([field, text])).filter((fault) => fault.field === field)).toEqual([required]);
  });

  it('with all faults named together: form, phrases and references', () => {
    const document = changed(
      ['name', 7],
      ['segment_type', 'none'],
      [`${FIRST}.weight`, 'much'],
      [`${FIRST}.uuid`, randomUUID()],
      ['sections.1.questions.1.decided.otherwise', 'Perhaps'],
      ['sections.2.questions.0.decided.cases.0.heard.source', { phrases: { ru: ['[да]'] } }],
      ['colour', 1],
    );
    expect(
      faultsOf(document)
        .map(({ field }) => field)
        .toSorted(),
    ).toEqual(
      [
        'colour',
        'name',
        'sections.0.questions.0.uuid',
        'sections.0.questions.0.weight',
        'sections.1.questions.1.decided.otherwise',
        'segment_type',
      ].toSorted(),
    );
  });

  it('with the first hundred faults named, and the number of the others', () => {
    const document = {
      ...body,
      ...Object.fromEntries(many(300, (at) => [`unknown${String(at)}`, 1]) as [string, number][]),
    };
    expect(() => validateScorecardDraft(JSON.stringify(document), known)).toThrow('and 200 more');
    expect(faultsOf(document)).toHaveLength(100);
  });

  it('when a revision names another segment type', () => {
    const revising = { ...known, segmentTypes: null, segmentType: 'support' };
    expect(faultsOf(changed(['segment_type', 'sales']), revising)).toMatchObject([{ field: 'segment_type' }]);
    expect(faultsOf(changed(['segment_type', 'support']), revising)).toEqual([]);
    expect(faultsOf(body, revising)).toEqual([]);
  });
});

it('an accepted scorecard is accepted again, with its defaults filled in', () => {
  expect(validateScorecardDraft(JSON.stringify(body), known)).toEqual(body);
  const short = {
    text: 'Was the bonus named?',
    weight: 1,
    choices: [
      { label: ' Yes ', points: 1 },
      { label: 'No', points: 0 },
    ],
    decided: {
      by: 'rule',
      cases: [{ heard: { role: 'operator', source: { phrases: { en: ['bonus'] } } }, answer: 'Yes' }],
      otherwise: 'No',
    },
  };
  const model = { text: 'Was it kind?', weight: 1, choices: short.choices, decided: { by: 'model' } };
  const once = validateScorecardDraft(
    JSON.stringify({ name: 'Own', sections: [{ name: 'Only', questions: [short, model] }] }),
    known,
  );
  expect(once.sections[0]?.questions[0]?.decided).toMatchObject({
    applies: { spoke: [], heard: null },
    cases: [{ heard: { where: 'anywhere', even_negated: false, at_least: 1 } }],
  });
  expect(validateScorecardDraft(JSON.stringify(once), known)).toEqual(once);
});

describe('any document', () => {
  const word = fc.oneof(
    fc.constantFrom('', ' ', 'Yes', 'No', '..', '!', '*', '#', '[a|b]', 'a*', '(a b|c) .. d', '\u0000', '\ud800', '🙂'),
    fc.string({ unit: 'binary', maxLength: 12 }),
  );
  const someHeard = fc.record(
    {
      role: fc.constantFrom('operator', 'client', 'nobody'),
      source: fc.oneof(
        fc.record({ lexicon: fc.constantFrom(...Lexicon.options, 'none') }),
        fc.record({
          phrases: fc.dictionary(
            fc.constantFrom(...Language.options, 'fr', '__proto__'),
            fc.array(word, { maxLength: 4 }),
            { maxKeys: 3 },
          ),
        }),
      ),
    },
    { requiredKeys: ['role', 'source'] },
  );
  const someQuestion = fc.record(
    {
      text: word,
      weight: fc.oneof(fc.constant(1), fc.double(), fc.constant('1')),
      choices: fc.array(fc.record({ label: word, points: fc.oneof(fc.nat(3), fc.double()) }), { maxLength: 4 }),
      decided: fc.oneof(
        fc.record({
          by: fc.constant('rule'),
          cases: fc.array(fc.record({ heard: someHeard, answer: word }), { maxLength: 3 }),
          otherwise: word,
        }),
        fc.record({ by: fc.constantFrom('model', 'rule', null) }),
        fc.jsonValue({ maxDepth: 2 }),
      ),
    },
    { requiredKeys: [] },
  );
  const document = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom('name', 'sections', 'segment_type', '__proto__', 'constructor'), fc.jsonValue()),
    fc.record({
      name: word,
      sections: fc.array(fc.record({ name: word, questions: fc.array(someQuestion, { maxLength: 3 }) }), {
        maxLength: 3,
      }),
    }),
  );

  it('is accepted or refused with the names of fields, never with an internal error, and calls can be scored by an accepted one', () => {
    const call = {
      language: null,
      tags: [],
      segmentType: 'support',
      firmLanguage: 'en' as const,
      duration: null,
      utterances: [{ role: 'operator' as const, text: 'a b c d Yes No a a a 🙂', start: null, end: null }],
    };
    fc.assert(
      fc.property(document, (value) => {
        const faults = faultsOf(value);
        for (const { field, code, message } of faults) {
          expect(typeof field).toBe('string');
          expect(code).toMatch(/^[A-Z_]+$/u);
          expect(message.length).toBeGreaterThan(0);
          expect(message.length).toBeLessThan(2000);
        }
        if (faults.length > 0) return;
        const draft = validateScorecardDraft(JSON.stringify(value), known);
        const result = analyzeByRules(call, { ...toScorecardBody(draft, randomUUID), uuid: randomUUID(), revision: 1 });
        expect(result.score === null || (result.score >= 0 && result.score <= 100)).toBe(true);
      }),
      { numRuns: 400 },
    );
  });
});

it('the default scorecard is a valid draft, with three sections and at least ten questions', () => {
  expect(ScorecardDraft.parse(body)).toEqual(body);
  expect(body.sections).toHaveLength(3);
  expect(body.sections.flatMap((section) => section.questions).length).toBeGreaterThanOrEqual(10);
});
