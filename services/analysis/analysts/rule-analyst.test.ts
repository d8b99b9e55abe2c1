import { randomUUID } from 'node:crypto';
import {
  type Answer,
  INLINE_BYTES,
  Language,
  type Lexicon,
  MAX_QUESTIONS,
  ScorecardDraft,
  type Utterance,
} from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { defaultScorecard } from '../scorecards/default-scorecard.ts';
import { type Scorecard, toScorecardBody } from '../scorecards/scorecard.ts';
import { conversationOf } from '../test/conversations.ts';
import type { AnalysisResult } from './analyst.ts';
import { analyzeByRules } from './rule-analyst.ts';
import { MAX_QUOTE_LENGTH } from './rules/quote.ts';

function bodyOf(draft: unknown) {
  return toScorecardBody(ScorecardDraft.parse(draft), randomUUID);
}

const LANGUAGES: readonly (Language | null)[] = ['en', 'ru', 'uz', 'ky', 'es', null];

function analyze(language: Language | null, ...lines: readonly string[]): AnalysisResult {
  return analyzeByRules(conversationOf(language, ...lines), defaultScorecard);
}

function answersOf(result: AnalysisResult): Answer[] {
  return result.sections.flatMap((section) => section.questions);
}

function answered(result: AnalysisResult, text: RegExp): Answer {
  const found = answersOf(result).find((each) => text.test(each.text));
  if (found === undefined) throw new Error(`No question matches ${text}.`);
  return found;
}

const GOOD: Record<Language | 'uz-cyrillic', readonly string[]> = {
  en: [
    'O: Good afternoon, thank you for calling Northlight Energy, my name is Paul. How can I help you?',
    'C: I am really upset, I was charged twice for March.',
    'O: I am sorry about that, I understand how annoying it is. Could you give me your account number, please?',
    'C: Four four one two.',
    'O: Thank you. This happened because the payment was sent again after an error. I will refund the second one today, you will receive the money within three business days. Is that okay?',
    'C: Yes, great.',
    'O: Is there anything else I can help you with?',
    'C: No, thanks.',
    'O: Have a nice day, goodbye!',
  ],
  ru: [
    'O: Добрый день, компания «Север», меня зовут Ольга. Чем могу помочь?',
    'C: Я возмущён, посылка до сих пор не пришла!',
    'O: Приношу извинения, понимаю вас. Подскажите, пожалуйста, номер заказа?',
    'C: Сто двадцать.',
    'O: Спасибо. Заказ задержался, потому что склад переехал. Я оформлю доставку на завтра, курьер приедет до обеда. Вам удобно?',
    'C: Да.',
    'O: Могу ли я ещё чем-то помочь?',
    'C: Нет.',
    'O: Всего доброго, до свидания!',
  ],
  uz: [
    'O: Assalomu alaykum, "Yulduz" kompaniyasi, mening ismim Nodira. Sizga qanday yordam bera olaman?',
    'C: Internetim ishlamayapti, juda xafaman.',
    'O: Uzr so‘rayman, sizni tushunaman. Iltimos, shartnoma raqamingizni aytib bering.',
    'C: Yuz yigirma.',
    'O: Rahmat. Chunki hududda texnik ishlar bo‘lgan. Men ustaga buyurtma berdim, usta ertaga soat o‘ngacha keladi. Ma’qulmi?',
    'C: Ha.',
    'O: Yana qanday yordam kerak?',
    'C: Yo‘q.',
    'O: Murojaatingiz uchun rahmat, xayr, salomat bo‘ling!',
  ],
  'uz-cyrillic': [
    'O: Ассалому алайкум, «Юлдуз» компанияси, менинг исмим Нодира. Сизга қандай ёрдам бера оламан?',
    'C: Интернетим ишламаяпти, жуда хафаман.',
    'O: Узр сўрайман, сизни тушунаман. Илтимос, шартнома рақамингизни айтиб беринг.',
    'C: Юз йигирма.',
    'O: Раҳмат. Чунки ҳудудда техник ишлар бўлган. Мен устага буюртма бердим, уста эртага соат ўнгача келади. Маъқулми?',
    'C: Ҳа.',
    'O: Яна қандай ёрдам керак?',
    'C: Йўқ.',
    'O: Мурожаатингиз учун раҳмат, хайр, саломат бўлинг!',
  ],
  ky: [
    'O: Саламатсызбы, «Жылдыз» компаниясы, менин атым Нуржан. Кандай жардам бере алам?',
    'C: Интернет иштебей жатат, абдан капамын.',
    'O: Кечирим сурайм, сизди түшүнөм. Сураныч, келишимдин номерин айтып бересизби?',
    'C: Жүз жыйырма.',
    'O: Рахмат. Себеби райондо техникалык иштер болду. Мен арызыңызды каттадым, уста эртең саат онго чейин келет. Ыңгайлуубу?',
    'C: Ооба.',
    'O: Дагы кандай суроолоруңуз бар?',
    'C: Жок.',
    'O: Кайрылганыңыз үчүн рахмат, жакшы күн каалайм!',
  ],
  es: [
    'O: Buenos días, gracias por llamar a Aguas del Sur, le atiende Rosa. ¿En qué le puedo ayudar?',
    'C: Estoy muy molesto, me cobraron dos veces el recibo.',
    'O: Lamento mucho lo ocurrido, le entiendo. ¿Me indica su número de contrato, por favor?',
    'C: Uno dos tres.',
    'O: Gracias. Esto ocurrió porque hubo un error en el sistema. Voy a devolverle el segundo cobro y recibirá el dinero en tres días hábiles. ¿Le parece bien?',
    'C: Sí.',
    'O: ¿Hay algo más en lo que pueda ayudarle?',
    'C: No.',
    'O: Que tenga un buen día, hasta luego.',
  ],
};

const BAD: Record<Language | 'uz-cyrillic', readonly string[]> = {
  en: [
    'O: Yeah?',
    'C: I was charged twice!',
    'O: So what? That is not my problem, you should have checked before.',
    'C: And my money?',
    'O: Someone will call you sometime. I am busy.',
  ],
  ru: [
    'O: Да, говорите быстрее.',
    'C: Посылка не пришла!',
    'O: А я при чём? Надо было раньше думать.',
    'C: И что делать?',
    'O: Не знаю, ждите. Кто-нибудь перезвонит.',
  ],
  uz: [
    'O: Nima kerak?',
    'C: Internetim ishlamayapti!',
    'O: Menga baribir, o‘zingiz aybdorsiz.',
    'C: Qachon tuzatasiz?',
    'O: Bilmayman, kimdir qo‘ng‘iroq qiladi, kuting.',
  ],
  'uz-cyrillic': [
    'O: Нима керак?',
    'C: Интернетим ишламаяпти!',
    'O: Менга барибир, ўзингиз айбдорсиз.',
    'C: Қачон тузатасиз?',
    'O: Билмайман, кимдир қўнғироқ қилади, кутинг.',
  ],
  ky: [
    'O: Эмне керек?',
    'C: Интернет иштебей жатат!',
    'O: Мага баары бир, өзүңүз күнөөлүүсүз.',
    'C: Качан оңдойсуңар?',
    'O: Билбейм, кимдир бирөө чалат, күтүңүз.',
  ],
  es: [
    'O: ¿Qué quiere?',
    'C: ¡Me cobraron dos veces!',
    'O: Es su culpa, debió revisar antes.',
    'C: ¿Y mi dinero?',
    'O: No me importa, alguien le llamará algún día.',
  ],
};

describe('the rule analyst', () => {
  it.each(Object.keys(GOOD) as (keyof typeof GOOD)[])('hears greeting, introduction and farewell in %s', (variety) => {
    const language = variety === 'uz-cyrillic' ? 'uz' : variety;
    expect(analyze(language, ...GOOD[variety]).score).toBe(100);
    expect(analyze(language, ...BAD[variety]).score).toBe(0);
  });

  it('leaves what words cannot decide to a language model', () => {
    const answers = answersOf(analyze('en', ...GOOD.en));
    const [decided, open] = [
      answers.filter(({ answer }) => answer !== null),
      answers.filter(({ answer }) => answer === null),
    ];
    expect(decided.map(({ text }) => text)).toEqual([
      'Did the operator greet the client?',
      'Did the operator give a name or the company?',
      'Did the operator say goodbye politely?',
    ]);
    expect(decided.every((each) => each.decided_by === 'rule' && !each.needs_review)).toBe(true);
    expect(open).toHaveLength(12);
    for (const each of open) {
      expect(each).toMatchObject({ decided_by: 'model', not_applicable: false, points: null, needs_review: false });
      expect(each.explanation).toBe('It needs a language model, and none has answered.');
    }
  });

  it('searches for the phrases of every language when the language is unknown, and asks for a review', () => {
    for (const lines of Object.values(GOOD)) {
      const result = analyze(null, ...lines);
      expect(result.score).toBe(100);
      for (const each of answersOf(result)) expect(each.needs_review).toBe(each.answer !== null);
    }
  });

  it('does not credit the operator with the words of the client', () => {
    const result = analyze(
      'en',
      'O: Yes.',
      'C: Hello, my name is Ann. How can I help you? Anything else? Goodbye, have a nice day. You idiot!',
    );
    expect(result.auto_failed).toBe(false);
    for (const text of [/greet/u, /name or the company/u, /goodbye/u]) {
      expect(answered(result, text).answer).toBe('No');
    }
  });

  it.each<[Language, string]>([
    ['en', 'no worries bye'],
    ['ru', 'не за что до свидания'],
    ['es', 'de nada hasta luego'],
  ])('recognizes a goodbye after a negation that belongs to other words (%s: %s)', (language, text) => {
    expect(answered(analyze(language, `O: ${text}`), /goodbye/).answer).toBe('Yes');
  });

  it.each([[[]], [['C: Hello?', 'C: Is anybody there?']]])('gives the score null when no operator spoke', (lines) => {
    const result = analyze('en', ...lines);
    expect(result.score).toBeNull();
    const answers = answersOf(result).filter(({ decided_by }) => decided_by !== 'model');
    expect(answers.every((each) => each.not_applicable && each.points === null)).toBe(true);
  });

  it('finds the phrases of a firm by language and role', () => {
    const body = bodyOf({
      name: 'Own',
      sections: [
        {
          name: 'Only',
          questions: [
            {
              uuid: '7d0f6a52-3a35-4b0e-9a1c-6a9a6f6f0b11',
              text: 'Was the bonus named?',
              weight: 1,
              choices: [
                { label: 'Yes', points: 2 },
                { label: 'No', points: 0 },
              ],
              decided: {
                by: 'rule',
                applies: { spoke: ['operator'], heard: null },
                cases: [
                  {
                    heard: { role: 'operator', source: { phrases: { en: ['bonus point*'], ru: ['бонус*'] } } },
                    answer: 'Yes',
                  },
                ],
                otherwise: 'No',
              },
            },
          ],
        },
      ],
    });
    const scorecard: Scorecard = { ...body, uuid: '7d0f6a52-3a35-4b0e-9a1c-6a9a6f6f0b10', revision: 3 };
    const result = (language: Language, line: string) => analyzeByRules(conversationOf(language, line), scorecard);
    expect(result('en', 'O: You get Bonus points!')).toMatchObject({
      score: 100,
      sections: [{ questions: [{ evidence: [{ quote: 'You get Bonus points!' }] }] }],
    });
    expect(result('ru', 'O: Вам начислены бонусы.').score).toBe(100);
    expect(result('ru', 'O: Bonus points').score).toBe(0);
    expect(result('en', 'O: No bonus points for you.').score).toBe(0);
  });
});

describe('a question without an answer by rules', () => {
  const choices = [
    { label: 'Yes', points: 1 },
    { label: 'No', points: 0 },
  ];
  const heardByRule = (source: object) => ({
    by: 'rule',
    cases: [{ heard: { role: 'operator', source }, answer: 'Yes' }],
    otherwise: 'No',
  });
  const scorecardOf = (...decisions: object[]): Scorecard => ({
    ...bodyOf({
      name: 'Own',
      sections: [
        {
          name: 'Only',
          questions: decisions.map((decided, at) => ({ text: `Question ${at}`, weight: 1, choices, decided })),
        },
      ],
    }),
    uuid: '7d0f6a52-3a35-4b0e-9a1c-6a9a6f6f0b10',
    revision: 1,
  });

  it('stays open, does not count and is not for review when it is for a language model', () => {
    const result = analyzeByRules(
      conversationOf('en', 'O: Hello there.'),
      scorecardOf({ by: 'model' }, heardByRule({ lexicon: 'greeting' })),
    );
    const [forModel, byRule] = answersOf(result);
    expect(forModel).toMatchObject({
      answer: null,
      decided_by: 'model',
      points: null,
      not_applicable: false,
      needs_review: false,
      evidence: [],
      evidence_absent: false,
    });
    expect(byRule).toMatchObject({ answer: 'Yes', needs_review: false });
    expect(result.score).toBe(100);
  });

  it.each(['need', 'solution', 'refusal', 'explanation', 'dead_promise', 'courtesy', 'blame'])(
    'stays open when it listens for the phrases of %s, which were too often wrong',
    (lexicon) => {
      const byRule = heardByRule({ lexicon });
      const { by: _by, ...fallback } = byRule;
      const conversation = { ...conversationOf('en', 'O: How can I help you?'), firmLanguage: 'ru' as const };
      const result = analyzeByRules(conversation, scorecardOf(byRule, { by: 'model', fallback }));
      expect(answersOf(result)).toMatchObject([
        {
          answer: null,
          decided_by: 'rule',
          not_applicable: false,
          needs_review: true,
          explanation: 'Нужна языковая модель или ваши собственные фразы: встроенные слишком часто ошибались.',
        },
        { answer: null, decided_by: 'model', explanation: 'Нужна языковая модель, а её ответа нет.' },
      ]);
      expect(result.score).toBeNull();
    },
  );

  it.each<[Lexicon, string, string]>([
    ['further_help', 'Is there anything else I can help you with?', 'Thanks.'],
    ['next_step', 'I will call you tomorrow at ten.', 'Fine.'],
    ['understanding', 'So you want the blue one, is that right?', 'Fine.'],
    ['empathy', 'I am so sorry, that must be frustrating.', 'Fine.'],
    ['abuse', 'You idiot.', 'Fine.'],
    ['rudeness', 'That is not my problem.', 'Fine.'],
  ])('is still answered by the built-in phrases of %s where a firm wants that', (lexicon, said, other) => {
    const answerTo = (line: string) =>
      answersOf(analyzeByRules(conversationOf('en', `O: ${line}`), scorecardOf(heardByRule({ lexicon }))))[0];
    expect(answerTo(said)).toMatchObject({ answer: 'Yes', decided_by: 'rule', points: 1 });
    expect(answerTo(other)).toMatchObject({ answer: 'No', decided_by: 'rule', points: 0 });
  });

  it('only suspects that an insult by the operator fails the call, quotes it and asks for a review', () => {
    const decided = {
      ...heardByRule({ lexicon: 'abuse' }),
      cases: [{ heard: { role: 'operator', source: { lexicon: 'abuse' } }, answer: 'Abusive' }],
    };
    const fails = [
      { label: 'No', points: 1 },
      { label: 'Abusive', points: 0, auto_fail: true },
    ];
    const card = bodyOf({
      name: 'Own',
      sections: [{ name: 'Only', questions: [{ text: 'Insult?', weight: 1, choices: fails, decided }] }],
    });
    const result = analyzeByRules(conversationOf('ru', 'O: Вы идиот.'), { ...card, uuid: randomUUID(), revision: 1 });
    expect(result).toMatchObject({ auto_failed: false, auto_fail_suspected: true });
    expect(answersOf(result)).toMatchObject([
      { answer: 'Abusive', needs_review: true, evidence: [{ quote: 'Вы идиот.' }] },
    ]);
  });

  it('is answered by its fallback, for review, when it is for a language model', () => {
    const { by: _by, ...fallback } = heardByRule({ lexicon: 'greeting' });
    const result = analyzeByRules(
      conversationOf('en', 'O: Hello there.'),
      scorecardOf({ by: 'model', fallback }, heardByRule({ lexicon: 'greeting' })),
    );
    const [forModel, byRule] = answersOf(result);
    expect(forModel).toMatchObject({ answer: 'Yes', decided_by: 'fallback', points: 1, needs_review: true });
    expect(byRule).toMatchObject({ answer: 'Yes', decided_by: 'rule', needs_review: false });
  });

  it('is left for review, without delaying other calls, when its phrases match nearly every word', () => {
    // Each word matches the beginning of every phrase in many ways, and the gaps multiply them.
    const prefixes = (at: number) => 'a'.repeat(1 + (at % 9));
    const phrases = Array.from(
      { length: 200 },
      (_, at) => `${[1, 2, 3].map((by) => `${prefixes(at * by)}*`).join(' .. ')} ${prefixes(at)}* ${prefixes(at * 4)}*`,
    );
    const scorecard = scorecardOf(heardByRule({ phrases: { en: phrases } }), heardByRule({ lexicon: 'greeting' }));
    const lines = Array.from({ length: 10 }, () => `O: ${'aaaaaaaaaa '.repeat(10_000)}`);
    // Trying every match would take longer than the test may.
    const result = analyzeByRules(conversationOf('en', 'O: Hello.', ...lines), scorecard);
    const [broad, other] = answersOf(result);
    expect(broad).toMatchObject({ answer: null, not_applicable: false, needs_review: true, evidence: [] });
    expect(other).toMatchObject({ answer: 'Yes', needs_review: false });
    expect(analyzeByRules(conversationOf('en', 'O: Hello.', ...lines), scorecard)).toEqual(result);
  });
});

describe('every analysis', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
    fc.constantFrom(
      'hello ',
      'I will refund you',
      ' you idiot',
      'приве\u0306т 😀',
      '\ud800',
      'İptal ı ',
      "yo‘q, o'zingiz aybdorsiz",
      'кечирим сурайм. ',
      '¿qué quiere?',
      '?!',
      'e\u0301\u0301\u0301',
      '\u0000',
      'refund'.repeat(60),
      ' sorry'.repeat(80),
      '👩‍👩‍👧‍👦 thanks',
    ),
  );
  const conversation = fc.record({
    language: fc.constantFrom(...LANGUAGES),
    tags: fc.constant([]),
    firmLanguage: fc.constantFrom(...Language.options),
    segmentType: fc.constant('support'),
    duration: fc.option(fc.nat(1000)),
    utterances: fc.array(
      fc.record({
        role: fc.constantFrom('operator' as const, 'client' as const),
        text: fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join('')),
        start: fc.option(fc.nat(100)),
        end: fc.option(fc.nat(100)),
      }),
      { maxLength: 8 },
    ),
  });

  it('has quotes that are verbatim at their offsets, and only text that can be stored', () => {
    fc.assert(
      fc.property(conversation, (call) => {
        const result = analyzeByRules(call, defaultScorecard);
        for (const each of answersOf(result)) {
          expect(each.evidence.length).toBeLessThanOrEqual(3);
          if (each.decided_by !== 'model') expect(each.evidence_absent).toBe(each.evidence.length === 0);
          for (const { utterance, quote, start_char: start, end_char: end } of each.evidence) {
            expect(call.utterances[utterance]?.text.slice(start, end)).toBe(quote);
            expect(quote.length).toBeGreaterThan(0);
            expect(quote.length).toBeLessThanOrEqual(MAX_QUOTE_LENGTH);
            expect(quote.isWellFormed() && !quote.includes('\u0000')).toBe(true);
          }
        }
        expect(result.summary.isWellFormed() && !result.summary.includes('\u0000')).toBe(true);
        expect(result.summary.length).toBeLessThanOrEqual(400);
      }),
      { numRuns: 150 },
    );
  });

  it('is the same for the same conversation', () => {
    fc.assert(
      fc.property(conversation, (call) => {
        const first = analyzeByRules(call, defaultScorecard);
        analyzeByRules(conversationOf('en', ...GOOD.en), defaultScorecard);
        expect(analyzeByRules(structuredClone(call), structuredClone(defaultScorecard))).toEqual(first);
      }),
      { numRuns: 20 },
    );
  });

  it.each(['好', '𠮷'])('is small enough to be inline in an event for any scorecard and text: %s', (letter) => {
    const body = bodyOf({
      name: letter.repeat(200),
      sections: [
        {
          name: letter.repeat(100),
          questions: Array.from({ length: MAX_QUESTIONS }, (_, index) => ({
            uuid: `7d0f6a52-3a35-4b0e-9a1c-6a9a6f6f0b${10 + index}`,
            text: letter.repeat(300),
            weight: 1,
            choices: [
              { label: letter.repeat(80), points: 1 },
              { label: 'No', points: 0 },
            ],
            decided: {
              by: 'rule',
              applies: { spoke: [], heard: null },
              cases: [{ heard: { role: 'operator', source: { phrases: { en: ['a*'] } } }, answer: letter.repeat(80) }],
              otherwise: 'No',
            },
          })),
        },
      ],
    });
    const scorecard = { ...body, uuid: '7d0f6a52-3a35-4b0e-9a1c-6a9a6f6f0b10', revision: 1 };
    const result = analyzeByRules(
      conversationOf(null, ...Array.from({ length: 5 }, () => `O:a${letter.repeat(1000)}`)),
      scorecard,
    );
    expect(answersOf(result)[0]?.evidence).toHaveLength(3);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(INLINE_BYTES * 0.9);
  });

  it('accepts a huge utterance and half a million tiny ones', () => {
    const huge = conversationOf('en', `O:${'I am sorry, I will not. '.repeat(40_000)}`);
    expect(answered(analyzeByRules(huge, defaultScorecard), /greet/u).answer).toBe('No');
    const loud = conversationOf('en', `O:${'THIS IS XA '.repeat(100_000)}`);
    expect(answered(analyzeByRules(loud, defaultScorecard), /name or the company/u).answer).toBe('No');
    const asking = conversationOf('en', `O:${'this is Xa '.repeat(100_000)}?`);
    expect(analyzeByRules(asking, defaultScorecard).sections).toHaveLength(3);
    const tiny = {
      ...huge,
      utterances: Array.from({ length: 500_000 }, (): Utterance => ({
        role: 'operator',
        text: 'ok',
        start: null,
        end: null,
      })),
    };
    expect(analyzeByRules(tiny, defaultScorecard).metrics.words.operator).toBe(500_000);
  });
});
