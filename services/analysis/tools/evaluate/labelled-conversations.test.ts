import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ruleAnalyst } from '../../analysts/rule-analyst.ts';
import { defaultScorecard } from '../../scorecards/default-scorecard.ts';
import { judge } from './judged-answers.ts';
import { readLabelledConversations, readQuestionMap, WRITERS_QUESTIONS } from './labelled-conversations.ts';
import { reportOf } from './report.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evaluate-'));
});
afterAll(() => rm(folder, { recursive: true }));

const GREETING = {
  id: 'one',
  language: 'en',
  utterances: [
    { role: 'operator', text: 'Good morning, how can I help?' },
    { role: 'client', text: 'My card is lost.' },
  ],
  answers: { greeting: 'Yes', introduction: 'Partly', 'another question': 'Yes' },
  remark: 'other fields are ignored',
};

it('all lines at fault are named at once, with what is wrong', async () => {
  const file = join(folder, 'faulty.jsonl');
  const lines = [JSON.stringify(GREETING), '', 'not json', JSON.stringify({ ...GREETING, language: 'fr' })];
  await writeFile(file, lines.join('\n'));
  const reading = readLabelledConversations([file]);
  await expect(reading).rejects.toThrow(/line 3: this is not JSON/);
  await expect(reading).rejects.toThrow(/line 4: language/);
});

it('the answers of the analyst are compared with the right ones by the map of questions', async () => {
  const file = join(folder, 'right.jsonl');
  await writeFile(file, `\ufeff${JSON.stringify(GREETING)}\r\n`);
  const conversations = await readLabelledConversations([file]);
  const questions = await readQuestionMap(WRITERS_QUESTIONS);
  const { answers } = await judge({ analyst: ruleAnalyst }, defaultScorecard, questions, conversations);
  expect(answers).toMatchObject([
    { question: 'greeting', right: 'Yes', given: 'Yes' },
    // Name or company is all that the default scorecard asks.
    { question: 'introduction', right: 'Yes', given: 'No' },
  ]);
});

it('a report has a row for each question, each language and all', async () => {
  const file = join(folder, 'two.jsonl');
  await writeFile(
    file,
    [GREETING, { ...GREETING, id: 'two', language: 'es' }].map((each) => JSON.stringify(each)).join('\n'),
  );
  const judged = await judge(
    { analyst: ruleAnalyst },
    defaultScorecard,
    await readQuestionMap(WRITERS_QUESTIONS),
    await readLabelledConversations([file]),
  );
  expect(reportOf(judged).rows.map(({ question, language, n }) => `${question} ${language} ${n}`)).toEqual([
    'greeting en 1',
    'greeting es 1',
    'greeting all 2',
    'introduction en 1',
    'introduction es 1',
    'introduction all 2',
    'all en 2',
    'all es 2',
    'all all 4',
  ]);
});
