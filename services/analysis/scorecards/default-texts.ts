import type { Language } from '@call-analysis/events';

/** The words of the default scorecard. */
export interface DefaultTexts {
  readonly name: string;
  readonly opening: string;
  readonly request: string;
  readonly closing: string;
  readonly yes: string;
  readonly partly: string;
  readonly no: string;
  readonly clearSolution: string;
  readonly partialSolution: string;
  readonly sentAway: string;
  readonly noSolution: string;
  readonly noVaguePromise: string;
  readonly vaguePromise: string;
  readonly respectful: string;
  readonly rude: string;
  readonly abusive: string;
  readonly noBlame: string;
  readonly blamed: string;
  readonly greeting: string;
  readonly introduction: string;
  readonly need: string;
  readonly clientName: string;
  readonly empathy: string;
  readonly solution: string;
  readonly explanation: string;
  readonly understanding: string;
  readonly courtesy: string;
  readonly promises: string;
  readonly nextStep: string;
  readonly furtherHelp: string;
  readonly farewell: string;
  readonly respect: string;
  readonly blame: string;
}

export const DEFAULT_TEXTS: Readonly<Record<Language, DefaultTexts>> = {
  en: {
    name: 'Quality of service',
    opening: 'Opening',
    request: 'Handling the request',
    closing: 'Closing and conduct',
    yes: 'Yes',
    partly: 'Partly',
    no: 'No',
    clearSolution: 'Clear solution',
    partialSolution: 'Partial solution',
    sentAway: 'Sent away',
    noSolution: 'No solution',
    noVaguePromise: 'No vague promise',
    vaguePromise: 'Vague promise',
    respectful: 'Respectful',
    rude: 'Rude',
    abusive: 'Abusive',
    noBlame: 'No blame',
    blamed: 'Blamed the client',
    greeting: 'Did the operator greet the client?',
    introduction: 'Did the operator give a name or the company?',
    need: 'Did the operator find out what the client needs?',
    clientName: 'Did the operator address the client by name?',
    empathy: 'Did the operator show understanding for an unhappy client?',
    solution: 'Did the operator offer a clear solution?',
    explanation: 'Did the operator explain causes or conditions?',
    understanding: 'Did the operator check that they understood each other?',
    courtesy: 'Did the operator use polite words?',
    promises: 'Did the operator avoid promises without a date?',
    nextStep: 'Did the operator agree on the next step?',
    furtherHelp: 'Did the operator offer further help?',
    farewell: 'Did the operator say goodbye politely?',
    respect: 'Was the operator respectful?',
    blame: 'Did the operator refrain from blaming the client?',
  },
  ru: {
    name: 'Качество обслуживания',
    opening: 'Начало разговора',
    request: 'Работа с обращением',
    closing: 'Завершение и тон',
    yes: 'Да',
    partly: 'Частично',
    no: 'Нет',
    clearSolution: 'Ясное решение',
    partialSolution: 'Частичное решение',
    sentAway: 'Отправил в другое место',
    noSolution: 'Нет решения',
    noVaguePromise: 'Без пустых обещаний',
    vaguePromise: 'Пустое обещание',
    respectful: 'Уважительно',
    rude: 'Грубо',
    abusive: 'Оскорбительно',
    noBlame: 'Без обвинений',
    blamed: 'Обвинил клиента',
    greeting: 'Оператор поздоровался с клиентом?',
    introduction: 'Оператор назвал себя или компанию?',
    need: 'Оператор выяснил, что нужно клиенту?',
    clientName: 'Оператор обращался к клиенту по имени?',
    empathy: 'Оператор проявил понимание к недовольному клиенту?',
    solution: 'Оператор предложил ясное решение?',
    explanation: 'Оператор объяснил причины или условия?',
    understanding: 'Оператор проверил, что они правильно поняли друг друга?',
    courtesy: 'Оператор говорил вежливые слова?',
    promises: 'Оператор обошёлся без обещаний без срока?',
    nextStep: 'Оператор договорился о следующем шаге?',
    furtherHelp: 'Оператор предложил ещё помощь?',
    farewell: 'Оператор вежливо попрощался?',
    respect: 'Оператор говорил уважительно?',
    blame: 'Оператор не обвинял клиента?',
  },
  uz: {
    name: 'Xizmat sifati',
    opening: 'Suhbat boshi',
    request: 'Murojaat bilan ishlash',
    closing: 'Yakun va muomala',
    yes: 'Ha',
    partly: 'Qisman',
    no: 'Yo‘q',
    clearSolution: 'Aniq yechim',
    partialSolution: 'Qisman yechim',
    sentAway: 'Boshqa joyga yubordi',
    noSolution: 'Yechim yo‘q',
    noVaguePromise: 'Quruq va’dasiz',
    vaguePromise: 'Quruq va’da',
    respectful: 'Hurmat bilan',
    rude: 'Qo‘pol',
    abusive: 'Haqoratli',
    noBlame: 'Ayblamadi',
    blamed: 'Mijozni aybladi',
    greeting: 'Operator mijoz bilan salomlashdimi?',
    introduction: 'Operator o‘z ismini yoki kompaniyani aytdimi?',
    need: 'Operator mijozga nima kerakligini aniqladimi?',
    clientName: 'Operator mijozga ismi bilan murojaat qildimi?',
    empathy: 'Operator norozi mijozni tushunishini ko‘rsatdimi?',
    solution: 'Operator aniq yechim taklif qildimi?',
    explanation: 'Operator sabab yoki shartlarni tushuntirdimi?',
    understanding: 'Operator bir-birini to‘g‘ri tushunganini tekshirdimi?',
    courtesy: 'Operator xushmuomala so‘zlar ishlatdimi?',
    promises: 'Operator muddatsiz va’dalar bermadimi?',
    nextStep: 'Operator keyingi qadamni kelishdimi?',
    furtherHelp: 'Operator yana yordam taklif qildimi?',
    farewell: 'Operator xushmuomala xayrlashdimi?',
    respect: 'Operator hurmat bilan gapirdimi?',
    blame: 'Operator mijozni ayblamadimi?',
  },
  ky: {
    name: 'Тейлөө сапаты',
    opening: 'Сүйлөшүүнүн башы',
    request: 'Кайрылуу менен иштөө',
    closing: 'Аягы жана мамиле',
    yes: 'Ооба',
    partly: 'Жарым-жартылай',
    no: 'Жок',
    clearSolution: 'Так чечим',
    partialSolution: 'Жарым-жартылай чечим',
    sentAway: 'Башка жакка жөнөттү',
    noSolution: 'Чечим жок',
    noVaguePromise: 'Куру убадасыз',
    vaguePromise: 'Куру убада',
    respectful: 'Урматтуу',
    rude: 'Орой',
    abusive: 'Кордогон',
    noBlame: 'Күнөөлөгөн жок',
    blamed: 'Кардарды күнөөлөдү',
    greeting: 'Оператор кардар менен саламдаштыбы?',
    introduction: 'Оператор өз атын же компанияны айттыбы?',
    need: 'Оператор кардарга эмне керек экенин тактадыбы?',
    clientName: 'Оператор кардарга аты менен кайрылдыбы?',
    empathy: 'Оператор нааразы кардарды түшүнөрүн көрсөттүбү?',
    solution: 'Оператор так чечим сунуштадыбы?',
    explanation: 'Оператор себептерди же шарттарды түшүндүрдүбү?',
    understanding: 'Оператор бири-бирин туура түшүнгөнүн текшердиби?',
    courtesy: 'Оператор сылык сөздөрдү айттыбы?',
    promises: 'Оператор мөөнөтү жок убада бербедиби?',
    nextStep: 'Оператор кийинки кадамды макулдаштыбы?',
    furtherHelp: 'Оператор дагы жардам сунуштадыбы?',
    farewell: 'Оператор сылык коштоштубу?',
    respect: 'Оператор урматтап сүйлөдүбү?',
    blame: 'Оператор кардарды күнөөлөбөдүбү?',
  },
  es: {
    name: 'Calidad de la atención',
    opening: 'Inicio',
    request: 'Gestión de la solicitud',
    closing: 'Cierre y trato',
    yes: 'Sí',
    partly: 'En parte',
    no: 'No',
    clearSolution: 'Solución clara',
    partialSolution: 'Solución parcial',
    sentAway: 'Lo mandó a otro lado',
    noSolution: 'Sin solución',
    noVaguePromise: 'Sin promesas vagas',
    vaguePromise: 'Promesa vaga',
    respectful: 'Respetuoso',
    rude: 'Grosero',
    abusive: 'Ofensivo',
    noBlame: 'Sin culpar',
    blamed: 'Culpó al cliente',
    greeting: '¿El operador saludó al cliente?',
    introduction: '¿El operador dijo su nombre o el de la empresa?',
    need: '¿El operador averiguó lo que el cliente necesita?',
    clientName: '¿El operador llamó al cliente por su nombre?',
    empathy: '¿El operador mostró comprensión con un cliente descontento?',
    solution: '¿El operador ofreció una solución clara?',
    explanation: '¿El operador explicó causas o condiciones?',
    understanding: '¿El operador comprobó que se entendieron?',
    courtesy: '¿El operador usó palabras amables?',
    promises: '¿El operador evitó promesas sin fecha?',
    nextStep: '¿El operador acordó el siguiente paso?',
    furtherHelp: '¿El operador ofreció más ayuda?',
    farewell: '¿El operador se despidió con amabilidad?',
    respect: '¿El operador fue respetuoso?',
    blame: '¿El operador evitó culpar al cliente?',
  },
};
