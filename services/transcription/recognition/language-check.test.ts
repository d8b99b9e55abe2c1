import { describe, expect, it } from '@jest/globals';
import type { Side } from '../audio/stereo.ts';
import { agreementOf, type Attempt, isCircular, isDoubtful, isForeign, isSurelySpoken } from './language-check.ts';
import type { IdentifiedLanguage } from './language-listener.ts';

type Line = readonly [side: Side, seconds: number, text: string];
const attempts = (lines: readonly Line[]): Attempt[] => lines.map(([side, seconds, text]) => ({ side, seconds, text }));

// Moonshine tiny's texts for sample calls with synthetic voices.
const english: Line[] = [
  ['left', 4.8, "Hello, you're reached armor mank, emily steaking, how may i help?"],
  [
    'right',
    7.6,
    "I think I lost my vivid card. I'm at a station and might want it to spawn. I'm kind of panicking here.",
  ],
  [
    'left',
    8.5,
    "I'm so sorry to hear that. Don't worry, we'll secure your card right to how. Make up your full name and your name to birth. Please.",
  ],
  ['right', 2.2, "It's an automated market."],
];
const russian: Line[] = [
  ['left', 4.8, 'The first thing is to be a good person. The first thing is to be a good person.'],
  ['left', 8.3, 'The first one is the first one. The first one is the first one. The first one is the first one.'],
  [
    'right',
    9.6,
    'The market is not a little bit different, but it is a little bit different. The market is a little bit different, but it is',
  ],
  ['right', 1.6, ''],
];
const kyrgyz: Line[] = [
  ['left', 7.1, ''],
  [
    'right',
    7.5,
    "Salamatza's work, meaning balance of the unconscious, unomesome, ketty, natat, and no tunic and intuition very, very home.",
  ],
  [
    'left',
    8.2,
    "The first time I've been to a place where I'm not alone, I'm not alone, I'm not alone, I'm not alone, I'm not alone",
  ],
  ['right', 5.7, "Job, it's next year, cost call name is mean. Balkeep, Baljack, or not, not a passive call one call."],
];
const sung: Line[] = [
  ['right', 20, ''],
  ['right', 20, 'you you you you you you you you you you you you you you you you you you you you you'],
];

describe('a call that is not in the language of the model', () => {
  it.each([
    ['English with word errors', english, false],
    ['Russian', russian, true],
    ['Kyrgyz', kyrgyz, true],
    ['English on one side, music on the other', [...english.filter(([side]) => side === 'left'), ...sung], false],
    ['music alone', sung, true],
    [
      'a word or two',
      [
        ['left', 0.8, ''],
        ['right', 1.2, 'The first one is'],
        ['left', 3, ''],
      ] as Line[],
      false,
    ],
    ['nothing', [] as Line[], false],
    [
      'few words, none of them common',
      [['left', 9.6, '10 of clubs, 4 queen of clubs, 7 of clubs, 5, 5, 8 of spades, 4 of clubs']] as Line[],
      false,
    ],
  ])('is detected by its text: %s', (_, lines, foreign) => {
    expect(isForeign(['en'], attempts(lines))).toBe(foreign);
  });

  it('is never assumed for a model that detects the language itself', () => {
    expect(isForeign([], attempts(russian))).toBe(false);
  });

  it('is detected for other languages by their common words', () => {
    const said =
      'здравствуйте меня зовут анна чем я могу вам помочь у меня не работает интернет со вчерашнего дня и я хочу чтобы вы это сейчас проверили пожалуйста';
    const gibberish =
      'хэллоу май интернет коннекшн хэз бин вери слоу синс йестердей ивнинг энд ай эм нот хэппи эбаут ит плиз чек зе лайн энд телл ми вот ис ронг виз ит сенк ю';
    expect(isForeign(['ru'], attempts([['left', 10, said]]))).toBe(false);
    expect(isForeign(['ru'], attempts([['left', 10, gibberish]]))).toBe(true);
    expect(isForeign(['kk'], attempts([['left', 10, gibberish]]))).toBe(false);
  });
});

describe('a call whose languages are detected', () => {
  type Window = readonly [language: string, probability: number, english?: number];
  const said = (side: Side, ...windows: Window[]): IdentifiedLanguage[] =>
    windows.map(([language, probability, english = language === 'en' ? probability : 0.05]) => ({
      side,
      language,
      probability,
      english,
    }));

  it.each([
    [
      'in the language of the model, whatever the text is',
      ['en'],
      said('left', ['en', 0.95], ['en', 0.85]),
      russian,
      false,
    ],
    ['in another language, whatever the text is', ['en'], said('left', ['es', 0.75], ['it', 0.65]), english, true],
    [
      'one party in it, the other in another',
      ['en'],
      [...said('left', ['en', 0.95]), ...said('right', ['ru', 0.95])],
      english,
      false,
    ],
    ['in it once by chance', ['en'], said('left', ['kk', 0.55], ['en', 0.35], ['tr', 0.65]), english, true],
    ['in no language clearly, but hardly in it', ['en'], said('left', ['th', 0.25], ['en', 0.25]), english, true],
    [
      'in it by a speaker who is taken for others now and then',
      ['en'],
      said('left', ['vi', 0.45, 0.35], ['en', 0.65], ['th', 0.35, 0.25]),
      english,
      false,
    ],
    ['not clearly: the text decides for it', ['en'], said('left', ['ja', 0.35, 0.35], ['en', 0.55]), english, false],
    ['not clearly: the text decides against it', ['en'], said('left', ['ja', 0.35, 0.35], ['en', 0.55]), kyrgyz, true],
    ['once, and not clearly: the text decides', ['en'], said('left', ['ja', 0.35, 0.25]), english, false],
    [
      'in nothing that is named, by a model of another language',
      ['ru'],
      said('left', ['ja', 0.15], ['pt', 0.15]),
      [],
      false,
    ],
    [
      'for a model of languages that are hard to identify',
      ['uz', 'ky'],
      said('left', ['tr', 0.95], ['kk', 0.95]),
      [],
      false,
    ],
    ['for a model that detects the language itself', [], said('left', ['tr', 0.95], ['kk', 0.95]), russian, false],
  ] as const)('%s', (_, languages, identified, lines, foreign) => {
    expect(isForeign(languages, attempts(lines), identified)).toBe(foreign);
  });

  it.each([
    ['is clearly in another language', said('left', ['de', 0.95], ['de', 0.95]), false],
    ['sounds a little like English', said('left', ['de', 0.85], ['en', 0.35]), true],
    [
      'has a party in another language and one that sounds English once',
      [...said('left', ['fr', 0.95]), ...said('right', ['en', 0.75])],
      true,
    ],
    ['is rather English than anything else', said('left', ['en', 0.65], ['en', 0.65]), false],
    ['has a party that surely speaks English', said('left', ['en', 0.75], ['en', 0.75]), false],
    ['has a single window', said('left', ['en', 0.35]), false],
  ] as const)('is recognized a second time only if the sound is doubtful: it %s', (_, identified, doubtful) => {
    expect(isDoubtful(['en'], identified)).toBe(doubtful);
  });

  it('is not recognized a second time by models whose texts were not measured', () => {
    expect(isDoubtful(['ru'], said('left', ['ja', 0.35], ['ru', 0.35]))).toBe(false);
    expect(isDoubtful(['en', 'es'], said('left', ['ja', 0.35], ['en', 0.35]))).toBe(false);
  });

  // The most English of the calls in other languages in the tuning half, and the least English of the English ones.
  it.each([
    ['an accent whose words stay', [0.25, 0.35], [0.25, 0.75, 0.35], 0.51, false],
    ['an accent that sounds more English in longer windows', [0.25, 0.55], [0.45, 0.55, 0.55], 0.37, false],
    ['an accent with many word errors', [0.45, 0.65], [0.65, 0.85, 0.85], 0.2, false],
    ['German that is taken for English now and then', [0.55, 0.05], [0.45, 0.05, 0.25], 0.34, true],
    ['Spanish by an American, half of whose words stay', [0.25, 0.05], [0.05, 0.05, 0.05], 0.54, true],
    ['Kyrgyz without any text', [0.25, 0.05], [0.05, 0.25, 0.05], 0, true],
  ] as const)('is judged by sound and text together if it is doubtful: %s', (_, first, longer, agreement, foreign) => {
    const windows = (all: readonly number[]) => said('left', ...all.map((english): Window => ['xx', 0.05, english]));
    expect(isForeign(['en'], [], windows(first), { identified: windows(longer), agreement })).toBe(foreign);
  });

  it('is settled by two clear windows of one party, or a very clear one of each', () => {
    expect(isSurelySpoken(['en'], said('left', ['en', 0.95]))).toBe(false);
    expect(isSurelySpoken(['en'], [...said('left', ['en', 0.95]), ...said('right', ['en', 0.95])])).toBe(true);
    expect(isSurelySpoken(['en'], [...said('left', ['en', 0.95]), ...said('right', ['en', 0.85])])).toBe(false);
    expect(isSurelySpoken(['en'], [...said('left', ['en', 0.95]), ...said('right', ['ru', 0.95])])).toBe(false);
    expect(isSurelySpoken(['en'], said('left', ['en', 0.95], ['en', 0.65]))).toBe(false);
    expect(isSurelySpoken(['en'], said('left', ['en', 0.95], ['en', 0.75]))).toBe(true);
    expect(isSurelySpoken(['en'], said('left', ['en', 0.95], ['en', 0.75], ['ru', 0.95]))).toBe(false);
  });
});

describe('the agreement of two texts of the same speech', () => {
  it.each([
    ['all words', [['How can I help you?', 'how can I help you', 2]], 1],
    ['most words', [['I lost my card at a station', 'I lost my car at a station', 3]], 6 / 7],
    [
      'words of all segments together',
      [
        ['I lost my card', 'I lost my card', 2],
        ['give me', 'guinea pig eats the', 2],
      ],
      0.5,
    ],
    ['no short segments', [['Yes please', 'A cough', 1]], 0],
    [
      'no repetition',
      [['the first one is the first one is the first one', 'the first one is the first one is the first one', 4]],
      0,
    ],
    ['nothing', [], 0],
  ] as const)('counts %s', (_, texts, share) => {
    expect(agreementOf(texts.map(([first, second, seconds]) => ({ first, second, seconds })))).toBeCloseTo(share);
  });
});

describe('a text that is mostly repetition', () => {
  it.each([
    ['The first one is the first one. The first one is the first one. The first one is the first one.', true],
    ['I am a student. I am a student. I am a student. I am a student.', true],
    ['No, no, no, no, no, no.', false],
    ['Thank you, thank you so much. Yes, that is right, thank you, and goodbye, goodbye.', false],
    ['', false],
  ])('is detected: %j, %s', (text, circular) => {
    expect(isCircular(text)).toBe(circular);
  });
});
