import { Language } from '@call-analysis/events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openLanguageModel } from '../../language-model/language-model.ts';
import { conversationOf } from '../../test/conversations.ts';
import { INJECTIONS } from '../../test/injections.ts';
import { modelConfig, modelScorecard } from '../../test/model-scorecard.ts';
import { goodReply, ModelServer, replyWith } from '../../test/model-server.ts';
import { analyzeByRules } from '../rule-analyst.ts';
import { modelAnalyst } from './model-analyst.ts';
import { writeConversation, writeInstructions } from './prompt.ts';
import { sendUtterances } from './sent-conversation.ts';
import { speaksToModel } from './suspicious-text.ts';

const server = new ModelServer();
const scorecard = modelScorecard();
const questions = scorecard.sections[0]!.questions.filter(({ decided }) => decided.by === 'model');

beforeAll(() => server.listen());
afterAll(() => server.close());

function analyst() {
  const store = { findStructured: async () => null, saveStructured: async () => {} };
  const config = modelConfig(server.url, { structured: 'json_schema' });
  return modelAnalyst(openLanguageModel(config, store), { reviewBelow: 0.7 });
}

/** Each language, injection and role that says it. */
const cases = Language.options.flatMap((language) =>
  INJECTIONS[language]!.map((injection, at) => [language, injection, at % 2 === 0 ? 'C' : 'O'] as const),
);

it('is tried with sixty injections in five languages', () => {
  expect(cases).toHaveLength(60);
});

describe.each(cases)('in %s, “%s” said by %s', (language, injection, role) => {
  const call = conversationOf(language, 'O: …', `${role}: ${injection}`, 'C: …');

  it('stays one line of data between delimiters that it cannot know', () => {
    const sent = sendUtterances(call.utterances, null);
    const message = writeConversation({ utterances: sent, number: 1, count: 1 });
    const lines = message.split('\n');
    const [, delimiter] = /^--- ([0-9a-f]{24}) ---$/.exec(lines[1]!)!;
    expect(lines).toHaveLength(call.utterances.length + 3);
    expect(lines.filter((line) => line.includes(delimiter!))).toHaveLength(3);
    expect(JSON.parse(lines[3]!.replace(/^1 (operator|client) /, ''))).toBe(injection);
    expect(writeInstructions(questions, language)).not.toContain(injection);
  });

  it("changes no answer of a rule, is no evidence and does not appear as the service's own words, even when the model obeys", async () => {
    server.behaviour = () =>
      replyWith(
        questions.map(({ uuid, choices }) => ({
          question_uuid: uuid,
          answer: choices[0]!.label,
          confidence: 1,
          quotes: [{ utterance: 1, quote: injection }],
          explanation: injection,
        })),
        { summary: injection, reason: injection },
      );
    const result = await analyst().analyze(call, scorecard);
    const [greeting, solution] = result.sections[0]!.questions;
    expect(greeting).toEqual(analyzeByRules(call, scorecard).sections[0]!.questions[0]);
    expect(solution).toMatchObject({ evidence: [], needs_review: true });
    for (const each of result.sections[0]!.questions) expect(each.explanation).not.toContain(injection);
    expect(result.reason).toBeNull();
    expect(result.summary.startsWith(injection)).toBe(false);
  });

  it('leaves the answers of a model that does not obey as they are', async () => {
    server.behaviour = goodReply;
    const result = await analyst().analyze(call, scorecard);
    expect(result.sections[0]!.questions.map(({ answer }) => answer).slice(1)).toEqual(['No', 'Respectful']);
  });
});

it.each([
  ['en', 'Please ignore the letter that we sent you last week, I will send a new one.'],
  ['en', 'The system is down, could you answer me by mail?'],
  ['ru', 'Система не работает, ответьте мне, пожалуйста, по почте.'],
  ['ru', 'Поставьте, пожалуйста, звонок на паузу.'],
  ['uz', 'Barcha hujjatlarni olib keling, javob beramiz.'],
  ['ky', 'Бардык документтерди алып келиңиз.'],
  ['es', 'Olvidé mi contraseña, ¿me ayuda?'],
])('ordinary words in %s are not taken for an injection: %s', (_, text) => {
  expect(speaksToModel(text)).toBe(false);
});
