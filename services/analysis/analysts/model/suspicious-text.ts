/**
 * Sentences that speak to a model instead of to a person. They change nothing by themselves: answers are labels, quotes
 * are looked up and points are added by code. Finding them keeps an injected sentence from standing as evidence, or in
 * a summary as if it were ours.
 */
const PATTERNS: readonly RegExp[] = [
  // Revokes or replaces the model's instructions.
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|rule|rubric|prompt|above|previous|scorecard|guideline|criteria|everything)/iu,
  /(?:игнорир\p{L}*|забуд\p{L}*|отмен\p{L}*|не обращай\p{L}*|пренебрег\p{L}*|обойди\p{L}*).{0,40}(?:инструкц\p{L}*|правил\p{L}*|рубрик\p{L}*|промпт\p{L}*|указан\p{L}*|критери\p{L}*|выше|предыдущ\p{L}*)/iu,
  /(?:ignora\p{L}*|olvid\p{L}*|descart\p{L}*|haz caso omiso|anula\p{L}*|omite).{0,40}(?:instruccion\p{L}*|regla\p{L}*|rúbrica|rubrica|prompt|anterior\p{L}*|criterio\p{L}*|indicacion\p{L}*)/iu,
  /(?:ko.rsatma\p{L}*|qoida\p{L}*|yo.riqnoma\p{L}*|mezon\p{L}*|rubrika\p{L}*|кўрсатма\p{L}*|қоида\p{L}*|йўриқнома\p{L}*).{0,40}(?:e.tibor\p{L}*|unut\p{L}*|bekor|hisobga olma\p{L}*|inkor|эътибор\p{L}*|унут\p{L}*|бекор)/iu,
  /(?:нускама\p{L}*|көрсөтмө\p{L}*|эреже\p{L}*|рубрика\p{L}*|критерий\p{L}*).{0,40}(?:көңүл бурба\p{L}*|унут\p{L}*|жокко чыгар\p{L}*|эске алба\p{L}*|этибарга алба\p{L}*)/iu,
  // Ask for answers or points.
  /\b(?:answer|respond|reply|mark|rate|score|label|set|give|return|output)\b.{0,40}(?:["'“«]?yes["'”»]?|full (?:marks|points|score)|maximum|highest|100|top score|all questions|every question|json)/iu,
  /(?:ответ\p{L}*|отвечай\p{L}*|постав\p{L}*|оцени\p{L}*|выстав\p{L}*|верни\p{L}*|выведи\p{L}*).{0,40}(?:["«“]?да["»”]? (?:на|везде|по)|на все вопрос\p{L}*|максим\p{L}*|высш\p{L}*|100|json|полный балл)/iu,
  /(?:respond\p{L}*|contest\p{L}*|marc\p{L}*|califi\p{L}*|punt[uú]\p{L}*|devuelv\p{L}*|pon).{0,40}(?:["«“]?s[ií]["»”]? a (?:todo|tod[ao]s)|todas las preguntas|puntuación máxima|máxim\p{L}*|100|json)/iu,
  /(?:barcha|hamma|ҳамма|барча).{0,20}(?:savol\p{L}*|савол\p{L}*).{0,40}(?:ha|yes|ҳа|maksimal|100|javob|жавоб)|(?:maksimal|eng yuqori|энг юқори|максимал).{0,20}(?:ball|baho|балл|баҳо)/iu,
  /(?:бардык|баардык).{0,20}суроо\p{L}*.{0,40}(?:ооба|yes|жооп|100)|(?:эң жогорку|максималдуу).{0,20}(?:балл|баа|упай)/iu,
  // Claim to be another part of the request.
  /(?:^|[\s"'[<{(*#])(?:system|assistant|developer|user|система|ассистент|sistema|asistente|tizim|система билдирүүсү)\s*(?:message|prompt|сообщение|mensaje|xabari)?\s*(?:[:>\]]|\|>)/iu,
  /<\|?\s*\/?(?:im_start|im_end|system|assistant|endoftext|eot_id|start_header_id|instructions?|conversation|transcript|scorecard)\b|\[\/?(?:INST|SYS|SYSTEM)\]|<<SYS>>|<\/?s>|<(?:start|end)_of_turn>|#{2,}\s*(?:system|instruction|new)|```/iu,
  /\b(?:new|updated|real|actual|secret) (?:instructions?|rules?|prompt|task|rubric)\b|\bprompt injection\b|\bjailbreak|\bDAN mode|\bdeveloper mode/iu,
  /(?:нов\p{L}{2,3}|настоящ\p{L}*|секретн\p{L}*) (?:инструкц\p{L}*|правил\p{L}*|задани\p{L}*|рубрик\p{L}*|промпт\p{L}*)|(?:nuevas?|verdaderas?) (?:instruccion\p{L}*|reglas?)|yangi (?:ko.rsatma|qoida|topshiriq)\p{L}*|жаңы (?:нускама|көрсөтмө|эреже)\p{L}*/iu,
  /\b(?:you are|act as|pretend (?:to be|you)|from now on you)\b.{0,40}\b(?:ai|assistant|model|evaluator|grader|judge|bot|auditor)/iu,
  /(?:ты|вы) (?:теперь )?(?:—|-|–)?\s*(?:языковая модель|ии|ассистент|оценщик|нейросеть)|как языков\p{L}* модел\p{L}*|as an ai\b|language model|modelo de lenguaje|eres (?:un|una) (?:ia|asistente|evaluador|modelo)|til modeli|sun.iy intellekt|тил модели|жасалма интеллект/iu,
  /"?(?:question_uuid|auto_fail|confidence|no_quote_needed|needs_review)"?\s*[:=]/iu,
  // A long run without spaces is no speech: encoded text.
  /[A-Za-z0-9+/]{48,}={0,2}/u,
];

/** Whether a text appears to instruct a model. */
export function speaksToModel(text: string): boolean {
  return PATTERNS.some((pattern) => pattern.test(text));
}
