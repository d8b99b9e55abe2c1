import type { Language } from '@call-analysis/events';

/** The service's own sentences about an answer of a model, in the language of the firm. */
interface Sentences {
  readonly open: string;
  readonly unproved: string;
  readonly lostQuote: string;
  readonly contradicted: string;
  readonly windows: string;
  readonly instruction: string;
}

export const SENTENCES: Readonly<Record<Language, Sentences>> = {
  en: {
    open: 'The language model gave no usable answer.',
    unproved: 'No quote in the conversation proves this answer.',
    lostQuote: 'A quote of the language model is not in the conversation.',
    contradicted: 'A reliable rule contradicts this answer.',
    windows: 'Parts of this long conversation have different answers.',
    instruction: 'The quoted words speak to the language model.',
  },
  ru: {
    open: 'Языковая модель не дала пригодного ответа.',
    unproved: 'Ни одна цитата из разговора не подтверждает этот ответ.',
    lostQuote: 'Одной из цитат языковой модели нет в разговоре.',
    contradicted: 'Надёжное правило противоречит этому ответу.',
    windows: 'В разных частях этого длинного разговора ответы различаются.',
    instruction: 'Процитированные слова обращены к языковой модели.',
  },
  uz: {
    open: 'Til modeli yaroqli javob bermadi.',
    unproved: 'Suhbatdagi hech bir iqtibos bu javobni tasdiqlamaydi.',
    lostQuote: 'Til modelining iqtiboslaridan biri suhbatda yo‘q.',
    contradicted: 'Ishonchli qoida bu javobga zid.',
    windows: 'Bu uzun suhbatning qismlarida javoblar har xil.',
    instruction: 'Keltirilgan so‘zlar til modeliga qaratilgan.',
  },
  ky: {
    open: 'Тил модели жарактуу жооп берген жок.',
    unproved: 'Маектеги бир дагы цитата бул жоопту ырастабайт.',
    lostQuote: 'Тил моделинин цитаталарынын бири маекте жок.',
    contradicted: 'Ишенимдүү эреже бул жоопко каршы келет.',
    windows: 'Бул узун маектин бөлүктөрүндө жооптор ар башка.',
    instruction: 'Келтирилген сөздөр тил моделине багытталган.',
  },
  es: {
    open: 'El modelo de lenguaje no dio una respuesta utilizable.',
    unproved: 'Ninguna cita de la conversación demuestra esta respuesta.',
    lostQuote: 'Una cita del modelo de lenguaje no está en la conversación.',
    contradicted: 'Una regla fiable contradice esta respuesta.',
    windows: 'Las partes de esta conversación larga tienen respuestas distintas.',
    instruction: 'Las palabras citadas se dirigen al modelo de lenguaje.',
  },
};
