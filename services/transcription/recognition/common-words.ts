import type { Language } from '@call-analysis/events';

/** The commonest words of each language. About half of the words of a conversation are among them. */
export const COMMON_WORDS: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: words(`the a an and or but i you he she it we they me him her us them my your his its our their is are was were be
    been am do does did have has had can could will would should may might not no yes to of in on at for with from by
    about this that these those what when where who how why there here so if then just ok okay please thank thanks now
    well im its dont thats ill youre ive all one two any some get got go like know think want need see let`),
  ru: words(`и в не на я что он с это как а то по все она так его но мы вы у за бы же от меня мне ты вам вас нас если
    только уже для до из да нет ну вот ли ещё еще когда где кто был была было были есть можно могу может здравствуйте
    спасибо пожалуйста хорошо сейчас у к о об при там тут чтобы или очень мой ваш наш просто тогда`),
  uz: words(`va bu men siz u biz ular bilan uchun ham emas yoq ha bor edi ekan kerak mumkin qanday nima qachon qayer kim
    endi hozir rahmat iltimos yaxshi assalomu alaykum salom shu bir ikki ga da ni ning dan lekin ammo agar chunki juda
    keyin meni mening sizning sizga menga boldi bolsa qilib kop ва бу мен сиз у биз улар билан учун ҳам эмас йўқ ҳа бор
    эди экан керак мумкин қандай нима қачон ким энди ҳозир раҳмат илтимос яхши салом шу бир икки лекин агар жуда кейин`),
  ky: words(`жана бул мен сиз ал биз алар менен үчүн да эмес жок ооба бар эле экен керек мүмкүн кандай эмне качан кайда
    ким эми азыр рахмат сураныч жакшы саламатсызбы салам ушул бир эки бирок эгер анткени абдан кийин мени менин сиздин
    сизге мага болду болсо кылып көп ошол деп болот`),
  es: words(`de la que el en y a los se del las un por con no una su para es al lo como más mas pero sus le ya o este sí
    si porque esta entre cuando muy sin sobre me mi yo tú tu usted nos hay qué que cómo como dónde está estoy tengo
    tiene puede puedo gracias por favor bueno buenos días ahora aquí eso ese esa bien entonces vale`),
};

function words(text: string): Set<string> {
  return new Set(text.trim().split(/\s+/u));
}
