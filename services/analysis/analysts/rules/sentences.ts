import type { Heard, Language, Role } from '@call-analysis/events';

type Where = Heard['where'];

/** The service's own explanations of answers in one language. The labels are those of the scorecard. */
export interface Sentences {
  readonly speaker: Readonly<Record<Role, string>>;
  /** The question does not apply, because a role is silent. `who` is the speaker within a sentence. */
  silent(who: string): string;
  /** The question does not apply, because the phrases that it depends on were not said. */
  notApplicable(who: string, where: Where): string;
  said(label: string, who: string, where: Where, times: number): string;
  notSaid(label: string, who: string, where: Where): string;
  readonly leftToModel: string;
  /** The lexicon that the question listens for has no phrases any more. */
  readonly withoutPhrases: string;
  readonly tooManyMatches: string;
  readonly unknownLanguage: string;
  // Of a language model's answers.
  readonly unanswered: string;
  readonly unproved: string;
  readonly lostQuote: string;
  readonly contradicted: string;
  readonly disputed: string;
  readonly manipulation: string;
}

const russianTimes = new Intl.PluralRules('ru');

const EN = place(' at the beginning of the call', ' at the end of the call');
const RU = place(' в начале разговора', ' в конце разговора');
const UZ = place('suhbat boshida ', 'suhbat oxirida ');
const KY = place('сүйлөшүүнүн башында ', 'сүйлөшүүнүн аягында ');
const ES = place(' al principio de la llamada', ' al final de la llamada');

function place(opening: string, closing: string): Readonly<Record<Where, string>> {
  return { anywhere: '', opening, closing };
}

export const SENTENCES: Readonly<Record<Language, Sentences>> = {
  en: {
    speaker: { operator: 'Operator', client: 'Client' },
    silent: (who) => `Does not apply: the ${who} said nothing.`,
    notApplicable: (who, where) => `Does not apply: nothing of the kind was heard from the ${who}${EN[where]}.`,
    said: (label, who, where, times) =>
      `${label}: the ${who} said it ${times === 1 ? 'once' : `${times} times`}${EN[where]}.`,
    notSaid: (label, who, where) => `${label}: nothing of the kind was heard from the ${who}${EN[where]}.`,
    leftToModel: 'It needs a language model, and none has answered.',
    withoutPhrases: 'It needs a language model or phrases of your own: the built-in phrases were too often wrong.',
    tooManyMatches: 'The phrases of this scorecard match so often that the call was not searched to its end.',
    unknownLanguage: 'The language of the call is unknown.',
    unanswered: 'The language model gave no usable answer.',
    unproved: 'No quote in the conversation proves this answer.',
    lostQuote: 'A quote of the language model is not in the conversation.',
    contradicted: 'A reliable rule contradicts this answer.',
    disputed: 'Parts of this long conversation have different answers.',
    manipulation: 'Words in this conversation try to command its assessment.',
  },
  ru: {
    speaker: { operator: 'Оператор', client: 'Клиент' },
    silent: (who) => `Не применимо: ${who} ничего не сказал.`,
    notApplicable: (who, where) => `Не применимо: ${who} ничего подобного не сказал${RU[where]}.`,
    said: (label, who, where, times) =>
      `${label}: ${who} сказал это ${times} ${russianTimes.select(times) === 'few' ? 'раза' : 'раз'}${RU[where]}.`,
    notSaid: (label, who, where) => `${label}: ${who} ничего подобного не сказал${RU[where]}.`,
    leftToModel: 'Нужна языковая модель, а её ответа нет.',
    withoutPhrases: 'Нужна языковая модель или ваши собственные фразы: встроенные слишком часто ошибались.',
    tooManyMatches: 'Фразы этой анкеты встречаются так часто, что разговор просмотрен не до конца.',
    unknownLanguage: 'Язык разговора неизвестен.',
    unanswered: 'Языковая модель не дала пригодного ответа.',
    unproved: 'Ни одна цитата из разговора не подтверждает этот ответ.',
    lostQuote: 'Одной из цитат языковой модели нет в разговоре.',
    contradicted: 'Надёжное правило противоречит этому ответу.',
    disputed: 'В разных частях этого длинного разговора ответы различаются.',
    manipulation: 'Слова в этом разговоре пытаются управлять его оценкой.',
  },
  uz: {
    speaker: { operator: 'Operator', client: 'Mijoz' },
    silent: (who) => `Tegishli emas: ${who} hech narsa demadi.`,
    notApplicable: (who, where) => `Tegishli emas: ${who} ${UZ[where]}bunday gap aytmadi.`,
    said: (label, who, where, times) => `${label}: ${who} buni ${UZ[where]}${times} marta aytdi.`,
    notSaid: (label, who, where) => `${label}: ${who} ${UZ[where]}bunday gap aytmadi.`,
    leftToModel: 'Til modeli kerak, lekin uning javobi yo‘q.',
    withoutPhrases: 'Til modeli yoki o‘z iboralaringiz kerak: tayyor iboralar juda ko‘p yanglishgan.',
    tooManyMatches: 'Bu so‘rovnomaning iboralari shu qadar ko‘p uchraydiki, suhbat oxirigacha tekshirilmadi.',
    unknownLanguage: 'Suhbat tili noma’lum.',
    unanswered: 'Til modeli yaroqli javob bermadi.',
    unproved: 'Suhbatdagi hech bir iqtibos bu javobni tasdiqlamaydi.',
    lostQuote: 'Til modelining iqtiboslaridan biri suhbatda yo‘q.',
    contradicted: 'Ishonchli qoida bu javobga zid.',
    disputed: 'Bu uzun suhbatning qismlarida javoblar har xil.',
    manipulation: 'Bu suhbatdagi so‘zlar uning bahosini boshqarishga urinadi.',
  },
  ky: {
    speaker: { operator: 'Оператор', client: 'Кардар' },
    silent: (who) => `Тиешеси жок: ${who} эч нерсе айткан жок.`,
    notApplicable: (who, where) => `Тиешеси жок: ${who} ${KY[where]}мындай сөз айткан жок.`,
    said: (label, who, where, times) => `${label}: ${who} муну ${KY[where]}${times} жолу айтты.`,
    notSaid: (label, who, where) => `${label}: ${who} ${KY[where]}мындай сөз айткан жок.`,
    leftToModel: 'Тил модели керек, бирок анын жообу жок.',
    withoutPhrases: 'Тил модели же өзүңүздүн сөз айкаштарыңыз керек: даярлары өтө көп жаңылган.',
    tooManyMatches: 'Бул баракчанын сөз айкаштары ушунча көп кездешкендиктен, сүйлөшүү аягына чейин каралган жок.',
    unknownLanguage: 'Сүйлөшүүнүн тили белгисиз.',
    unanswered: 'Тил модели жарактуу жооп берген жок.',
    unproved: 'Маектеги бир дагы цитата бул жоопту ырастабайт.',
    lostQuote: 'Тил моделинин цитаталарынын бири маекте жок.',
    contradicted: 'Ишенимдүү эреже бул жоопко каршы келет.',
    disputed: 'Бул узун маектин бөлүктөрүндө жооптор ар башка.',
    manipulation: 'Бул маектеги сөздөр анын баасын башкарууга аракет кылат.',
  },
  es: {
    speaker: { operator: 'Operador', client: 'Cliente' },
    silent: (who) => `No procede: el ${who} no dijo nada.`,
    notApplicable: (who, where) => `No procede: el ${who} no dijo nada parecido${ES[where]}.`,
    said: (label, who, where, times) =>
      `${label}: el ${who} lo dijo ${times === 1 ? 'una vez' : `${times} veces`}${ES[where]}.`,
    notSaid: (label, who, where) => `${label}: el ${who} no dijo nada parecido${ES[where]}.`,
    leftToModel: 'Necesita un modelo de lenguaje, y ninguno ha respondido.',
    withoutPhrases: 'Necesita un modelo de lenguaje o frases propias: las incorporadas fallaban demasiado.',
    tooManyMatches: 'Las frases de esta ficha aparecen tanto que la llamada no se revisó hasta el final.',
    unknownLanguage: 'El idioma de la llamada es desconocido.',
    unanswered: 'El modelo de lenguaje no dio una respuesta utilizable.',
    unproved: 'Ninguna cita de la conversación demuestra esta respuesta.',
    lostQuote: 'Una cita del modelo de lenguaje no está en la conversación.',
    contradicted: 'Una regla fiable contradice esta respuesta.',
    disputed: 'Las partes de esta conversación larga tienen respuestas distintas.',
    manipulation: 'Hay palabras en esta conversación que intentan dirigir su evaluación.',
  },
};
