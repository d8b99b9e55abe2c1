import { Language, type Lexicon, phrasesOf, type Role } from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import { defaultScorecard, defaultScorecardIn } from '../../scorecards/default-scorecard.ts';
import { conversationOf } from '../../test/conversations.ts';
import { lexiconScorecard } from '../../test/lexicon-scorecard.ts';
import type { Conversation } from '../analyst.ts';
import { labelWithoutQuote } from '../model/prompt.ts';
import { analyzeByRules } from '../rule-analyst.ts';
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

/** Whether an operator who says this says something of the lexicon. */
function isHeard(language: Language, lexicon: Lexicon, line: string): boolean {
  return analyzeByRules(conversationOf(language, `O: ${line}`), lexiconScorecard(lexicon)).score === 100;
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
    expect(isHeard(language, 'abuse', line) || isHeard(language, 'rudeness', line)).toBe(false);
  });

  it.each<[Language, string]>([
    ['en', 'You said he is late? Shut up.'],
    ['en', '"Shut up!"'],
    ['ru', 'Вы идиот.'],
  ])('but the own words count (%s: %s)', (language, line) => {
    expect(isHeard(language, 'abuse', line) || isHeard(language, 'rudeness', line)).toBe(true);
  });

  it('and greets nobody', () => {
    expect(answer('en', /greet/, 'O: The sign says "good morning".')).toBe('No');
    expect(answer('en', /greet/, 'O: Good morning, this is "Northlight".')).toBe('Yes');
  });

  it('but what others have arranged is a next step', () => {
    expect(isHeard('en', 'next_step', 'The engineer says he will be with you by noon tomorrow at 10.')).toBe(true);
  });
});

it.each<[Language, string]>([
  ['en', 'I have changed the name. Is that all right?'],
  ['en', 'Is that all clear so far?'],
  ['en', 'Is everything clear?'],
  ['ky', 'Дагы бир мүнөт күтүңүз.'],
  ['uz', 'Yana bir daqiqa kuting.'],
])('a check or a request to wait is no offer of further help (%s: %s)', (language, line) => {
  expect(isHeard(language, 'further_help', line)).toBe(false);
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
  expect(isHeard(language, 'understanding', line)).toBe(false);
});

describe('an introduction', () => {
  const call = (language: Language, line: string, names: Partial<Conversation> = {}) =>
    answersTo({ ...conversationOf(language, `O: ${line}`, 'C: Yes.'), ...names })(/name or the company/);

  it.each<[Language, string]>([
    ['en', 'Northline, morning.'],
    ['ru', 'Сивербанк, добрый день.'],
    ['ky', 'Чынарамын, кандайсыз?'],
  ])('is the name of the operator or the firm, where the metadata has it (%s: %s)', (language, line) => {
    const names = { operatorName: 'Dana Чынара', firmName: 'Northline Internet, Сивербанк' };
    expect(call(language, line, names)).toMatchObject({ answer: 'Yes', evidence: [{ utterance: 0 }] });
    expect(call(language, line)).toMatchObject({ answer: 'No' });
  });

  it.each<[Language, string]>([
    ['en', 'Hello, this is Carol.'],
    ['en', "Good morning, you're speaking with Dominic, how can I help?"],
    ['en', 'Hi there, it’s Priya from billing.'],
    ['en', 'I’m Tom, what can I do for you?'],
    ['en', 'Carol here, good afternoon.'],
    ['en', 'Good evening, Harbour Dental.'],
    ['ru', 'Здравствуйте, это Анна из «Севера».'],
    ['ru', 'Добрый день, меня зовут Олег.'],
    ['ru', 'Я Тимур, слушаю вас.'],
    ['ru', 'Алло, с вами говорит Марина.'],
    ['ru', 'Ольга слушает.'],
    ['ru', 'Алло, Виктор, слушаю.'],
    ['uz', 'Assalomu alaykum, mening ismim Nodira.'],
    ['uz', 'Salom, men Sardorman.'],
    ['uz', 'Salom, bu Dilnoza.'],
    ['uz', 'Ассалому алайкум, мен Жасурман.'],
    ['uz', 'Салом, исмим Гулнора.'],
    ['ky', 'Саламатсызбы, менин атым Нуржан.'],
    ['ky', 'Салам, мен Айбекмин.'],
    ['ky', 'Салам, бул Жылдыз.'],
    ['es', 'Hola, soy Lucía.'],
    ['es', 'Buenas, le atiende Rosa.'],
    ['es', 'Buenas tardes, aquí Marcos.'],
    ['es', 'Buenas, Lucía al aparato.'],
  ])('is heard whatever the metadata calls the operator (%s: %s)', (language, line) => {
    const names = { operatorName: 'agent 4711', firmName: 'ООО «Ромашка»' };
    // Also when the client has spoken first.
    const later = conversationOf(language, 'C: …', `O: ${line}`);
    for (const conversation of [conversationOf(language, `O: ${line}`), later]) {
      const found = answersTo({ ...conversation, ...names })(/name or the company/);
      if (conversation === later && /Harbour/.test(line)) continue;
      expect(found).toMatchObject({ answer: 'Yes', decided_by: 'rule', needs_review: false });
    }
  });

  it.each<[Language, string]>([
    ['en', 'Hello, this is about your order.'],
    ['en', 'It’s fine, I am listening.'],
    ['en', 'HELLO THIS IS WRONG'],
    ['ru', 'Это Анна?'],
    ['ru', 'Я Вам перезвоню.'],
    ['uz', 'Bu Nodirami?'],
    ['ky', 'Бул Нуржанбы?'],
    ['es', '¿Habla Rosa?'],
  ])('is not every sentence that begins like one, and its absence is for review (%s: %s)', (language, line) => {
    expect(call(language, line)).toMatchObject({ answer: 'No', decided_by: 'fallback', needs_review: true });
  });

  it('is not the name of the client', () => {
    const called = conversationOf('en', 'C: Marcus Tobin speaking.', 'O: Thank you, Marcus, I have found it.');
    expect(answersTo(called)(/name or the company/)).toMatchObject({ answer: 'No' });
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
    for (const { answer, confidence, needs_review } of answers)
      expect({ confidence, needs_review }).toEqual({ confidence: null, needs_review: answer !== null });
  });
});

describe('the default scorecard', () => {
  it('leaves every question to a language model, and three to words while there is none', () => {
    const questions = defaultScorecard.sections.flatMap((section) => section.questions);
    expect(questions.every(({ decided }) => decided.by === 'model' && decided.instructions !== null)).toBe(true);
    expect(questions.filter(({ decided }) => phrasesOf(decided) !== null).map(({ text }) => text)).toEqual([
      'Did the operator greet the client?',
      'Did the operator give a name or the company?',
      'Did the operator say goodbye politely?',
    ]);
  });

  it('tells the model of each question which answer has no quote', () => {
    const questions = defaultScorecard.sections.flatMap((section) => section.questions);
    const labels = questions.map((each) => labelWithoutQuote(each));
    expect(labels.filter((label) => label !== 'No')).toEqual([
      'No solution',
      'No vague promise',
      'Respectful',
      'No blame',
    ]);
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
  const { said, speaker } = SENTENCES[firmLanguage];
  expect(greeting).toMatchObject({
    answer: label,
    explanation: said(label, speaker.operator.toLowerCase(), 'opening', 1),
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
