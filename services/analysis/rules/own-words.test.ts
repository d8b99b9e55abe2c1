import { Language, type Role } from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import type { Conversation } from '../analysts/analyst.ts';
import { analyzeByRules } from '../analysts/rule-analyst.ts';
import { defaultScorecard, defaultScorecardIn } from '../scorecards/default-scorecard.ts';
import { conversationOf } from '../test/conversations.ts';
import { SENTENCES } from './sentences.ts';
import { seemSwapped } from './swapped-channels.ts';

function answersTo(conversation: Conversation) {
  const { sections } = analyzeByRules(conversation, defaultScorecard);
  const answers = sections.flatMap(({ questions }) => questions);
  return (text: RegExp) => answers.find((each) => text.test(each.text));
}

function answer(language: Language, text: RegExp, ...lines: readonly string[]): string | null | undefined {
  return answersTo(conversationOf(language, ...lines))(text)?.answer;
}

describe('what an operator reads out or reports is not what the operator says', () => {
  it.each<[Language, string]>([
    ['en', 'Your neighbour wrote “you idiots, shut up”, I have read it.'],
    ['en', 'He told the courier to shut up, that is in the report.'],
    ['ru', 'В заявке написано: «закройте рот, идиоты».'],
    ['ru', 'Курьер сказал, что вы идиот? Это недопустимо.'],
    ['es', 'En la queja pone: «cállese, idiota».'],
    ['uz', 'Kuryer sizga «ahmoq» dedi, shundaymi?'],
    ['ky', 'Айдоочу «акмак» деп кыйкырды дейсизби?'],
  ])('and insults nobody (%s: %s)', (language, line) => {
    expect(answer(language, /respectful/, `O: ${line}`)).toBe('Respectful');
  });

  it.each<[Language, string]>([
    ['en', 'You said he is late? Shut up.'],
    ['en', '"Shut up!"'],
    ['ru', 'Вы идиот.'],
  ])('but the own words count (%s: %s)', (language, line) => {
    expect(answer(language, /respectful/, `O: ${line}`)).not.toBe('Respectful');
  });

  it('and greets nobody', () => {
    expect(answer('en', /greet/, 'O: The sign says "good morning".')).toBe('No');
    expect(answer('en', /greet/, 'O: Good morning, this is "Northlight".')).toBe('Yes');
  });

  it('but what others have arranged is a next step', () => {
    expect(answer('en', /next step/, 'O: The engineer says he will be with you by noon tomorrow at 10.')).toBe('Yes');
  });
});

it.each<[Language, string]>([
  ['en', 'I have changed the name. Is that all right?'],
  ['en', 'Is that all clear so far?'],
  ['en', 'Is everything clear?'],
  ['ky', 'Дагы бир мүнөт күтүңүз.'],
  ['uz', 'Yana bir daqiqa kuting.'],
])('a check or a request to wait is no offer of further help (%s: %s)', (language, line) => {
  expect(answer(language, /further help/, `O: ${line}`)).toBe('No');
});

it.each(['Кайырдуу таң', 'Кайырдуу күн!', 'Кайырлуу кеч'])('the Kyrgyz «%s» is a greeting', (line) => {
  expect(answer('ky', /greet/, `O: ${line}`)).toBe('Yes');
});

it.each<[Language, string]>([
  ['en', 'Can I put you on hold for a couple of minutes? Is that okay?'],
  ['en', 'Bear with me a second, is that all right?'],
  ['es', 'Un momento, por favor. ¿Le parece bien?'],
  ['ru', 'Повисите на линии, хорошо ли вам слышно? Согласны?'],
  ['uz', 'Bir daqiqa kutib turing, ma’qulmi?'],
  ['ky', 'Бир мүнөт күтүп туруңуз, макулбу?'],
])('a request to hold is no check of understanding (%s: %s)', (language, line) => {
  expect(answer(language, /understood each other/, `O: ${line}`)).toBe('No');
});

describe('an introduction', () => {
  const call = (language: Language, line: string, names: Partial<Conversation> = {}) =>
    answersTo({ ...conversationOf(language, `O: ${line}`, 'C: Yes.'), ...names })(/name or the company/);

  it.each<[Language, string]>([
    ['en', 'Morning, Dana here.'],
    ['en', 'Northline, morning.'],
    ['ru', 'Сивербанк, добрый день.'],
    ['uz', 'Nurtel, Sardorman, eshitamiz.'],
    ['ky', 'Чынарамын, кандайсыз?'],
    ['es', 'Buenas, Lucía al aparato.'],
  ])('is the name of the operator or the firm (%s: %s)', (language, line) => {
    const names = { operatorName: 'Dana Lucía Sardor Чынара', firmName: 'Northline Internet, Сивербанк' };
    expect(call(language, line, names)).toMatchObject({ answer: 'Yes', evidence: [{ utterance: 0 }] });
    expect(call(language, line)).toMatchObject({ answer: /eshitamiz/.test(line) ? expect.anything() : 'No' });
  });

  it('is no ordinary word of a name', () => {
    expect(call('en', 'The bank is closed.', { firmName: 'Harrow Bank' })).toMatchObject({ answer: 'No' });
  });

  it('is not the client saying that name, and not the operator saying it late in the call', () => {
    const late = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'].map((word) => `O: ${word}.`);
    const names = { operatorName: 'Dana Reed' };
    expect(
      answersTo({ ...conversationOf('en', 'O: Yes?', 'C: Is that Dana?', ...late, 'O: Dana.'), ...names })(
        /name or the company/,
      ),
    ).toMatchObject({ answer: 'No' });
  });
});

describe('the confidence of an answer', () => {
  it('is measured, and decides whether the answer is for review', () => {
    const conversation = conversationOf('en', 'O: Good morning.', 'C: Hello.');
    const at = (reviewBelow: number) =>
      analyzeByRules(conversation, defaultScorecard, reviewBelow).sections[0]?.questions[0];
    const confidence = at(0)?.confidence ?? 0;
    expect(confidence).toBeGreaterThan(0);
    expect(at(confidence)).toMatchObject({ answer: 'Yes', decided_by: 'rule', needs_review: false });
    expect(at(confidence + 0.01)).toMatchObject({ needs_review: true });
  });

  it('is unknown for a call in an unknown language', () => {
    const { sections } = analyzeByRules(conversationOf(null, 'O: Good morning.'), defaultScorecard);
    const answers = sections.flatMap(({ questions }) => questions);
    expect(answers.every(({ confidence, needs_review }) => confidence === null && needs_review)).toBe(true);
  });
});

describe('the default scorecard', () => {
  it('leaves to a language model what phrases cannot decide, with the phrases for the time without one', () => {
    const { sections } = analyzeByRules(conversationOf('en', 'O: Hello.', 'C: I am angry.'), defaultScorecard);
    const answers = sections.flatMap(({ questions }) => questions);
    const decidedBy = Object.groupBy(answers, ({ decided_by }) => decided_by);
    expect(decidedBy.rule).toHaveLength(7);
    expect(decidedBy.fallback).toHaveLength(7);
    // Who is meant by a name takes understanding.
    expect(decidedBy.model).toMatchObject([{ text: expect.stringMatching(/by name/), answer: null }]);
    expect(decidedBy.fallback?.every(({ needs_review }) => needs_review)).toBe(true);
  });

  it.each(Language.options)('has the same questions in %s, each with texts of its own', (language) => {
    const translated = defaultScorecardIn(language).sections.flatMap(({ questions }) => questions);
    const english = defaultScorecard.sections.flatMap(({ questions }) => questions);
    expect(translated.map(({ uuid, weight }) => [uuid, weight])).toEqual(
      english.map(({ uuid, weight }) => [uuid, weight]),
    );
    for (const { text, choices } of translated) {
      expect(translated.filter((each) => each.text === text)).toHaveLength(1);
      expect(new Set(choices.map(({ label }) => label)).size).toBe(choices.length);
    }
  });
});

it.each(Language.options)('explanations for a firm with the language %s are in it', (firmLanguage) => {
  const scorecard = defaultScorecardIn(firmLanguage);
  const { sections } = analyzeByRules({ ...conversationOf('en', 'O: Hello.', 'C: Hi.'), firmLanguage }, scorecard);
  const [greeting] = sections[0]!.questions;
  const label = scorecard.sections[0]!.questions[0]!.choices[0]!.label;
  expect(greeting).toMatchObject({
    answer: label,
    explanation: SENTENCES[firmLanguage].said(label, 'operator', 'opening', 1),
  });
});

describe('swapped channels', () => {
  const swapped = ({ utterances, ...rest }: Conversation): Conversation => ({
    ...rest,
    utterances: utterances.map((each) => ({
      ...each,
      role: (each.role === 'operator' ? 'client' : 'operator') satisfies Role,
    })),
  });

  it.each<[Language, string, string]>([
    ['en', 'Thank you for calling Northline, how can I help?', 'My internet is down and I need an engineer.'],
    ['ru', 'Сивербанк, чем могу помочь?', 'У меня не работает карта, я очень недоволен.'],
    ['es', 'Gracias por llamar, ¿en qué le puedo ayudar?', 'No me funciona el internet, estoy muy molesto.'],
    ['uz', 'Qanday yordam bera olaman?', 'Internetim ishlamayapti, juda xafaman.'],
    ['ky', 'Кандай жардам бере алам?', 'Интернет иштебей жатат, абдан капамын.'],
  ])('are recognized by who serves and who asks (%s)', (language, serving, asking) => {
    const call = conversationOf(language, `O: ${serving}`, `C: ${asking}`);
    expect(seemSwapped(call)).toBe(false);
    expect(seemSwapped(swapped(call))).toBe(true);
  });

  it('are not suspected without signs, or when the operator calls', () => {
    expect(seemSwapped(conversationOf('en', 'O: Yes?', 'C: Hello?'))).toBe(false);
    expect(seemSwapped(conversationOf('en', 'C: Yes?', 'O: I am calling about your order, I need the address.'))).toBe(
      false,
    );
  });
});
