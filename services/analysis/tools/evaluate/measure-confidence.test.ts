import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { defaultScorecard } from '../../scorecards/default-scorecard.ts';
import type { JudgedAnswer } from './judged-answers.ts';
import { readLabelledConversations, readQuestionMap, WRITERS_QUESTIONS } from './labelled-conversations.ts';
import { measureConfidence, shareRight } from './measure-confidence.ts';

it('the confidence of the rules is what they reach on the tuning conversations, as the command writes it', async () => {
  const files = globSync(fileURLToPath(new URL('../../evaluation/tuning/*.jsonl', import.meta.url)));
  const questions = await readQuestionMap(WRITERS_QUESTIONS);
  const conversations = await readLabelledConversations(files);
  const written = readFileSync(new URL('../../analysts/rules/confidence.json', import.meta.url), 'utf8');
  expect(JSON.parse(written)).toEqual(await measureConfidence(defaultScorecard, questions, conversations));
});

it('few answers of a kind are drawn towards all languages, and those towards one half', async () => {
  const questions = await readQuestionMap(WRITERS_QUESTIONS);
  const greeting = questions['greeting']!.question;
  const answer = (language: 'en' | 'es', right: string): JudgedAnswer => ({
    conversation: 'one',
    question: 'greeting',
    language,
    right,
    given: 'Yes',
    needsReview: false,
    answer: { uuid: greeting, answer: 'Yes', not_applicable: false, evidence_absent: false } as JudgedAnswer['answer'],
  });
  const answers = [answer('en', 'Yes'), answer('en', 'Yes'), answer('en', 'Yes'), answer('es', 'No')];
  const kind = 'operator greeting opening: operator greeting opening';
  const together = (3 + 2) / (4 + 4);
  expect(shareRight(answers, defaultScorecard, questions)).toEqual({
    en: { [kind]: Math.round(((3 + 4 * together) / (3 + 4)) * 100) / 100 },
    es: { [kind]: Math.round(((0 + 4 * together) / (1 + 4)) * 100) / 100 },
  });
});
