import { describe, expect, it } from '@jest/globals';
import { defaultScorecard } from './default-scorecard.ts';
import { MAX_QUESTIONS, ScorecardBody } from './scorecard.ts';

const [question] = defaultScorecard.sections.flatMap((section) => section.questions);
const tooMany = Array.from({ length: MAX_QUESTIONS }, (_, at) => ({
  ...question, uuid: `7d0f6a52-3a35-4b0e-9a1c-6a9a6f6f0b${10 + at}`,
}));

/** What the schema says of the default scorecard with another value at a path of keys and indexes. */
function faultsWith(path: string, value: unknown): string {
  const { uuid: _uuid, revision: _revision, ...body } = structuredClone(defaultScorecard);
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let place: object = body;
  for (const key of keys) place = Reflect.get(place, key);
  Reflect.set(place, last, value);
  const parsed = ScorecardBody.safeParse(body);
  return parsed.success ? '' : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('\n');
}

describe('a scorecard is refused', () => {
  it.each<[string, string, unknown, string]>([
    ['without sections', 'sections', [], 'sections'],
    ['with an empty section', 'sections.0.questions', [], 'sections.0.questions'],
    ['with a weight of zero', 'sections.0.questions.0.weight', 0, 'sections.0.questions.0.weight'],
    ['where no choice gives points', 'sections.0.questions.0.choices.0.points', 0, 'At least one choice must give points.'],
    ['where a case answers what is no choice', 'sections.0.questions.0.decided.cases.0.answer', 'Perhaps', 'This is no choice'],
    ['where the rest answers what is no choice', 'sections.0.questions.0.decided.otherwise', 'Perhaps', 'decided.otherwise'],
    ['with two choices of one label', 'sections.0.questions.0.choices.1.label', 'Yes', 'Two choices have the same label.'],
    ['with a question twice', 'sections.1.questions.0', question, 'Two questions have the same uuid.'],
    ['with an unknown lexicon', 'sections.0.questions.0.decided.cases.0.heard.source', { lexicon: 'magic' }, 'source'],
    ['with a phrase that cannot be heard', 'sections.0.questions.0.decided.cases.0.heard.source', { phrases: { en: ['..'] } }, 'has no word'],
    ['with a field that we do not know', 'sections.0.color', 'red', 'color'],
    ['with too many questions', 'sections.0.questions', tooMany, `at most ${MAX_QUESTIONS} questions`],
  ])('%s', (_name, path, value, said) => {
    expect(faultsWith(path, value)).toContain(said);
  });
});

it('the same body that was stored is accepted again', () => {
  expect(faultsWith('name', 'Another name')).toBe('');
});
