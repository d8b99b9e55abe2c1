import type { Language } from '@call-analysis/events';

/** The most common short words of each language, for recognizing the language. Uzbek is in Latin script. */
export const everydayWords: Readonly<Record<Language, string>> = {
  en: `
    the a an and or but if of to in on at for with from by about as is are was were be been being am do does did
    have has had will would can could should may might must not no yes i you he she it we they me him her us them my
    your his our their this that these those there here what which who when where why how all any some every more
    most other just only then than so too very now today tomorrow yesterday up down out over again okay ok well
    please im ive ill its dont didnt cant thats whats youre know think want need get got go going come see say said
    tell call time day one two first last right sure good morning hello hi thank thanks sorry yeah because since
    until before after also still already something anything nothing let after under while both each few many much
    own same such off into through during between
  `,
  ru: `
    и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня
    еще нет о из ему теперь когда даже ну вдруг ли если уже или ни быть был него до вас нибудь опять уж вам ведь там
    потом себя ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже
    себе под будет ж тогда кто этот того потому этого какой совсем ним здесь этом один почти мой тем чтобы нее
    сейчас были куда зачем всех можно при два об другой хоть после над больше тот через эти нас про всего них какая
    много разве три эту моя хорошо свою этой перед иногда лучше чуть том нельзя такой им более всегда конечно всю
    между это мои ваш ваша ваше ваши вашего вашей наш наша наши здравствуйте добрый день спасибо пожалуйста да алло
    слушаю меня зовут понятно ладно сегодня завтра вчера номер который которая которые очень просто
  `,
  uz: `
    va bu men siz biz u ular bilan uchun ham emas yo'q bor edi ekan deb lekin ammo yoki agar chunki kerak mumkin
    qanday nima qachon qayerda kim qaysi hozir bugun ertaga kecha yana juda shu o'sha hamma har bir ikki uch to'rt
    besh mening sizning bizning uning menga sizga bizga unga meni sizni bizni uni menda sizda bizda undan mendan
    sizdan bo'ldi bo'ladi bo'lsa bo'lgan qildim qildingiz qiladi qilish qilib keldi keladi oldim olib oldi berdi
    berib bering ha xo'p mayli rahmat iltimos assalomu alaykum salom yaxshi aka opa endi keyin oldin hali faqat ko'p
    oz kun vaqt soat pul so'm raqam ism nega qancha necha o'zim o'zingiz albatta to'g'ri tushunarli esa kabi orqali
    haqida bo'yicha ichida hech narsa biror shunday unda shuning demak ekanmi emasmi bormi ko'ra gacha bo'lib turib
    ketdi chiqdi qoldi
  `,
  ky: `
    жана бул мен сиз биз ал алар менен үчүн да эмес жок бар эле экен деп бирок же эгер анткени керек мүмкүн кандай
    эмне качан кайда ким кайсы азыр бүгүн эртең кечээ дагы абдан ушул ошол баары ар бир эки үч төрт беш менин сиздин
    биздин анын мага сизге бизге ага мени сизди бизди аны менде сизде бизде андан менден сизден болду болот болсо
    болгон кылдым кылдыңыз кылат кылып келди келет алдым алып алды берди берип бериңиз ооба макул мейли рахмат
    сураныч саламатсызбы салам жакшы байке эже эми анан кийин мурун али гана көп аз күн убакыт саат акча сом номер
    ат эмнеге канча нече өзүм өзүңүз албетте туура түшүнүктүү болсо сыяктуу аркылуу жөнүндө боюнча ичинде эч нерсе
    ушундай ошондо ошондуктан демек барбы болобу жатам жатат жатасыз турат турам элек чейин ээ туурабы кетти чыкты
    калды жолу дейт деген үйдө
  `,
  es: `
    el la los las un una unos unas y o pero si no de del al en con por para sin sobre entre hasta desde como que
    cual cuales quien cuando donde porque es son era fue ser estar esta estan estaba este esto ese esa eso esos
    aquel yo usted ustedes nosotros ellos ella me te se le les lo nos mi su sus tu mis muy mas menos tambien ya aun
    todavia ahora hoy manana ayer aqui alli asi bien mal todo toda todos nada algo alguien nadie otro otra mismo hay
    he ha han tengo tiene tenemos puedo puede podemos quiero quiere necesito hacer hago hizo voy va vamos ir ver dar
    decir digame gracias por favor hola buenos buenas dias tardes noches senor senora claro bueno entonces solo cada
    dos tres dia hora tiempo vez numero nombre cuenta era sido siento momento pues igual luego despues antes
    mientras
  `,
};
