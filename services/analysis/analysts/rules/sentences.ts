import type { Heard, Language, Role } from '@call-analysis/events';

type Where = Heard['where'];

/** The rules' explanations of their answers in one language. The labels are those of the scorecard. */
export interface Sentences {
  readonly speaker: Readonly<Record<Role, string>>;
  /** The question does not apply, because a role is silent. */
  silent(role: Role): string;
  /** The question does not apply, because the phrases that it depends on were not said. */
  notApplicable(role: Role, where: Where): string;
  said(label: string, role: Role, where: Where, times: number): string;
  notSaid(label: string, role: Role, where: Where): string;
  readonly leftToModel: string;
  /** The lexicon that the question listens for has no phrases any more. */
  readonly withoutPhrases: string;
  readonly tooManyMatches: string;
  readonly unknownLanguage: string;
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
    silent: (role) => `Does not apply: the ${role} said nothing.`,
    notApplicable: (role, where) => `Does not apply: nothing of the kind was heard from the ${role}${EN[where]}.`,
    said: (label, role, where, times) =>
      `${label}: the ${role} said it ${times === 1 ? 'once' : `${times} times`}${EN[where]}.`,
    notSaid: (label, role, where) => `${label}: nothing of the kind was heard from the ${role}${EN[where]}.`,
    leftToModel: 'It needs a language model, and none has answered.',
    withoutPhrases: 'It needs a language model or phrases of your own: the built-in phrases were too often wrong.',
    tooManyMatches: 'The phrases of this scorecard match so often that the call was not searched to its end.',
    unknownLanguage: 'The language of the call is unknown.',
  },
  ru: {
    speaker: { operator: 'Оператор', client: 'Клиент' },
    silent: (role) => `Не применимо: ${ru(role)} ничего не сказал.`,
    notApplicable: (role, where) => `Не применимо: ${ru(role)} ничего подобного не сказал${RU[where]}.`,
    said: (label, role, where, times) =>
      `${label}: ${ru(role)} сказал это ${times} ${russianTimes.select(times) === 'few' ? 'раза' : 'раз'}${RU[where]}.`,
    notSaid: (label, role, where) => `${label}: ${ru(role)} ничего подобного не сказал${RU[where]}.`,
    leftToModel: 'Нужна языковая модель, а её ответа нет.',
    withoutPhrases: 'Нужна языковая модель или ваши собственные фразы: встроенные слишком часто ошибались.',
    tooManyMatches: 'Фразы этой анкеты встречаются так часто, что разговор просмотрен не до конца.',
    unknownLanguage: 'Язык разговора неизвестен.',
  },
  uz: {
    speaker: { operator: 'Operator', client: 'Mijoz' },
    silent: (role) => `Tegishli emas: ${uz(role)} hech narsa demadi.`,
    notApplicable: (role, where) => `Tegishli emas: ${uz(role)} ${UZ[where]}bunday gap aytmadi.`,
    said: (label, role, where, times) => `${label}: ${uz(role)} buni ${UZ[where]}${times} marta aytdi.`,
    notSaid: (label, role, where) => `${label}: ${uz(role)} ${UZ[where]}bunday gap aytmadi.`,
    leftToModel: 'Til modeli kerak, lekin uning javobi yo‘q.',
    withoutPhrases: 'Til modeli yoki o‘z iboralaringiz kerak: tayyor iboralar juda ko‘p yanglishgan.',
    tooManyMatches: 'Bu so‘rovnomaning iboralari shu qadar ko‘p uchraydiki, suhbat oxirigacha tekshirilmadi.',
    unknownLanguage: 'Suhbat tili noma’lum.',
  },
  ky: {
    speaker: { operator: 'Оператор', client: 'Кардар' },
    silent: (role) => `Тиешеси жок: ${ky(role)} эч нерсе айткан жок.`,
    notApplicable: (role, where) => `Тиешеси жок: ${ky(role)} ${KY[where]}мындай сөз айткан жок.`,
    said: (label, role, where, times) => `${label}: ${ky(role)} муну ${KY[where]}${times} жолу айтты.`,
    notSaid: (label, role, where) => `${label}: ${ky(role)} ${KY[where]}мындай сөз айткан жок.`,
    leftToModel: 'Тил модели керек, бирок анын жообу жок.',
    withoutPhrases: 'Тил модели же өзүңүздүн сөз айкаштарыңыз керек: даярлары өтө көп жаңылган.',
    tooManyMatches: 'Бул баракчанын сөз айкаштары ушунча көп кездешкендиктен, сүйлөшүү аягына чейин каралган жок.',
    unknownLanguage: 'Сүйлөшүүнүн тили белгисиз.',
  },
  es: {
    speaker: { operator: 'Operador', client: 'Cliente' },
    silent: (role) => `No procede: el ${es(role)} no dijo nada.`,
    notApplicable: (role, where) => `No procede: el ${es(role)} no dijo nada parecido${ES[where]}.`,
    said: (label, role, where, times) =>
      `${label}: el ${es(role)} lo dijo ${times === 1 ? 'una vez' : `${times} veces`}${ES[where]}.`,
    notSaid: (label, role, where) => `${label}: el ${es(role)} no dijo nada parecido${ES[where]}.`,
    leftToModel: 'Necesita un modelo de lenguaje, y ninguno ha respondido.',
    withoutPhrases: 'Necesita un modelo de lenguaje o frases propias: las incorporadas fallaban demasiado.',
    tooManyMatches: 'Las frases de esta ficha aparecen tanto que la llamada no se revisó hasta el final.',
    unknownLanguage: 'El idioma de la llamada es desconocido.',
  },
};

function ru(role: Role): string {
  return role === 'operator' ? 'оператор' : 'клиент';
}

function uz(role: Role): string {
  return role === 'operator' ? 'operator' : 'mijoz';
}

function ky(role: Role): string {
  return role === 'operator' ? 'оператор' : 'кардар';
}

function es(role: Role): string {
  return role === 'operator' ? 'operador' : 'cliente';
}
