import type { Language } from '@call-analysis/events';

/** The service's own sentences about an answer of a model, in the language of the firm. */
interface Sentences {
  readonly open: string;
  readonly unproved: string;
  readonly lostQuote: string;
  readonly contradicted: string;
  readonly windows: string;
  readonly manipulation: string;
}

export const SENTENCES: Readonly<Record<Language, Sentences>> = {
  en: {
    open: 'The language model gave no usable answer.',
    unproved: 'No quote in the conversation proves this answer.',
    lostQuote: 'A quote of the language model is not in the conversation.',
    contradicted: 'A reliable rule contradicts this answer.',
    windows: 'Parts of this long conversation have different answers.',
    manipulation: 'Words in this conversation try to command its assessment.',
  },
  ru: {
    open: 'Языковая модель не дала пригодного ответа.',
    unproved: 'Ни одна цитата из разговора не подтверждает этот ответ.',
    lostQuote: 'Одной из цитат языковой модели нет в разговоре.',
    contradicted: 'Надёжное правило противоречит этому ответу.',
    windows: 'В разных частях этого длинного разговора ответы различаются.',
    manipulation: 'Слова в этом разговоре пытаются управлять его оценкой.',
  },
  uz: {
    open: 'Til modeli yaroqli javob bermadi.',
    unproved: 'Suhbatdagi hech bir iqtibos bu javobni tasdiqlamaydi.',
    lostQuote: 'Til modelining iqtiboslaridan biri suhbatda yo‘q.',
    contradicted: 'Ishonchli qoida bu javobga zid.',
    windows: 'Bu uzun suhbatning qismlarida javoblar har xil.',
    manipulation: 'Bu suhbatdagi so‘zlar uning bahosini boshqarishga urinadi.',
  },
  ky: {
    open: 'Тил модели жарактуу жооп берген жок.',
    unproved: 'Маектеги бир дагы цитата бул жоопту ырастабайт.',
    lostQuote: 'Тил моделинин цитаталарынын бири маекте жок.',
    contradicted: 'Ишенимдүү эреже бул жоопко каршы келет.',
    windows: 'Бул узун маектин бөлүктөрүндө жооптор ар башка.',
    manipulation: 'Бул маектеги сөздөр анын баасын башкарууга аракет кылат.',
  },
  es: {
    open: 'El modelo de lenguaje no dio una respuesta utilizable.',
    unproved: 'Ninguna cita de la conversación demuestra esta respuesta.',
    lostQuote: 'Una cita del modelo de lenguaje no está en la conversación.',
    contradicted: 'Una regla fiable contradice esta respuesta.',
    windows: 'Las partes de esta conversación larga tienen respuestas distintas.',
    manipulation: 'Hay palabras en esta conversación que intentan dirigir su evaluación.',
  },
};
