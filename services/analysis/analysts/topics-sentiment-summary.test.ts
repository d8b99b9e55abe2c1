import type { Language } from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import { defaultScorecard } from '../scorecards/default-scorecard.ts';
import { conversationOf } from '../test/conversations.ts';
import { analyzeByRules } from './rule-analyst.ts';

function analyze(language: Language, ...lines: readonly string[]) {
  return analyzeByRules(conversationOf(language, ...lines), defaultScorecard);
}

describe('topics', () => {
  it.each<[Language, string, string]>([
    ['en', 'I want a refund for the parcel that was never delivered', 'refund'],
    ['ru', 'Курьер не привёз посылку, когда доставка?', 'delivery'],
    ['uz', 'Kartam bankomatda qolib ketdi', 'card'],
    ['uz', 'Кредит фоизи қанча?', 'loan'],
    ['ky', 'Дарыгердин кабыл алуусуна жазылайын дегем', 'appointment'],
    ['es', 'Quiero cancelar el seguro del coche', 'insurance'],
    ['en', 'There is no hot water in the whole house', 'utilities'],
    ['en', 'I left my bag on the bus', 'lost_property'],
    ['ru', 'На площадке пахнет газом', 'safety'],
    ['ru', 'Забыла в автобусе рюкзак', 'lost_property'],
    ['uz', 'Uyda suv yo‘q', 'utilities'],
    ['uz', 'Dorini qayerdan olsam bo‘ladi?', 'health'],
    ['ky', 'Үйдө жарык жок', 'utilities'],
    ['es', 'Huele a gas en la escalera', 'safety'],
    ['es', 'Necesito la receta del medicamento', 'health'],
  ])('are found in %s: %s', (language, line, topic) => {
    expect(analyze(language, `C:${line}`).topics).toContain(topic);
  });

  it('are at most five', () => {
    const line = 'refund cancel complaint delivery order bill payment loan card account transfer insurance';
    expect(analyze('en', `C:${line}`).topics).toHaveLength(5);
  });
});

it('sentiment is null: without a language model it would be a guess', () => {
  expect(analyze('en', 'O:Great, happy to help.', 'C:Terrible, I am angry.').sentiment).toBeNull();
});

describe('questions asked', () => {
  it.each<[Language, string, number]>([
    ['en', 'What is your name? And your number?', 2],
    ['en', 'Really?! Are you sure???', 2],
    ['en', 'could you tell me your number', 1],
    ['en', 'When it arrives, call us.', 0],
    ['es', '¿Cómo está? ¿Qué desea', 2],
    ['ru', 'как вас зовут', 1],
    ['uz', 'buyurtma raqami bormi', 1],
    ['ky', 'номериңиз барбы', 1],
  ])('are counted in %s: %s', (language, line, count) => {
    expect(analyze(language, `O:${line}`).metrics.questions_asked).toBe(count);
  });

  it('are those of the operator only', () => {
    expect(analyze('en', 'C:Why? How?').metrics.questions_asked).toBe(0);
  });
});

it('a summary quotes the problem, the resolution and the ending', () => {
  const { summary } = analyze(
    'en',
    'O:Hello, how can I help?',
    'C:Hi. My router is broken since Monday.',
    'O:I see. I will send a technician tomorrow.',
    'C:Great, thank you.',
  );
  expect(summary).toBe(
    'Client: My router is broken since Monday.\nOperator: I will send a technician tomorrow.\nClient: Great, thank you.',
  );
});

it.each<[Language, string, string]>([
  ['ru', 'Клиент: My router is broken since Monday.', 'Оператор: I will send a technician tomorrow.'],
  ['uz', 'Mijoz: My router is broken since Monday.', 'Operator: I will send a technician tomorrow.'],
  ['ky', 'Кардар: My router is broken since Monday.', 'Оператор: I will send a technician tomorrow.'],
  ['es', 'Cliente: My router is broken since Monday.', 'Operador: I will send a technician tomorrow.'],
])(
  'a summary for a firm with the language %s names the speakers in it and quotes as spoken',
  (firmLanguage, ...lines) => {
    const conversation = conversationOf(
      'en',
      'C:Hi. My router is broken since Monday.',
      'O:I will send a technician tomorrow.',
    );
    expect(analyzeByRules({ ...conversation, firmLanguage }, defaultScorecard).summary).toBe(lines.join('\n'));
  },
);
