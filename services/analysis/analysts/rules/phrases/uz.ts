import type { LanguagePhrases } from './language-phrases.ts';

export const uz: LanguagePhrases = {
  lexicons: {
    greeting: `
      vaalaykum; alaykum assalom; qalaysiz; omonmisiz; hormang; charchamang; xayrli|hayrli tun|oqshom; assalom*; salom*; ! salom ayting|deng;
      assalomu alaykum; assalom; salom; salomlar; assalomu aleykum; assalomualaykum; asalomu alaykum; va alaykum
      assalom; vaalaykum assalom; xayrli kun|tong|kech; hayrli kun|tong|kech; xush kelibsiz; hush kelibsiz;
      qo'ng'iroq qilganingiz uchun rahmat|tashakkur; murojaatingiz uchun rahmat|tashakkur; yaxshimisiz; hurmatli
      mijoz
    `,
    introduction: `
      mening ismim; ismim; men .. operatori|operatoriman|mutaxassisi|menejeri|xodimi|bankidan|kompaniyasidan|
      markazidan|klinikasidan|do'konidan|man; operator|mutaxassis|menejer|administrator .. eshitaman|aloqada|
      tinglaydi|eshitadi|gapiryapman|sizga; siz .. (bog'landingiz|qo'ng'iroq qildingiz|ulandingiz); sizga .. xizmat
      ko'rsatadi|xizmat ko'rsataman; sizni .. (tabriklaydi|qutlaydi|eshitadi|qabul qiladi|kutib oladi); aloqa
      markazi; qo'llab quvvatlash; yordam markazi; ishonch telefoni; mijozlarga xizmat; mijozlar xizmati|bo'limi;
      kompaniyasi; kompaniyasidan; kompaniyasiga; banki; bankidan; xizmatidan; klinikasi; klinikasidan; do'koni;
      do'konidan; markazidan; nomidan; aloqadaman; aloqada; men operator|operatorman; sizga .. qo'ng'iroq qilyapman;
      kompaniyasi operatori; call markaz; kontakt markaz; kurerlik xizmati; yetkazib berish xizmati; kompaniyasi
      sizni; ! ismingiz; ! sizning ismingiz; ! ismim emas; ! aloqada qoling|bo'ling|kuting|qolasiz; eshitadi; taksi
      xizmati; alaykum .. taksi; taksi .. alaykum; ! meni eshitadi
    `,
    unhappy: `
      norozi*; xafa; xafaman; jahlim; jahl*; asabim; asab*; g'azab*; yomon; juda yomon; dahshat*; sharmanda*; uyat;
      rasvo; umidsiz*; hafsala*; hafsalam; shikoyat*; arz qilaman; aldad*; aldash*; aldayapsiz*; alday*; firibgar*;
      tovlamachi*; yolg'on; ishlamayapti; ishlamay*; ishlamadi; ishlamaydi; kelmadi; kelmayapti; kelgani yo'q;
      keltirmadi*; yetkazishmadi; yetib kelmadi; yetkazilmadi; olib kelishmadi|kelmadi|kelmayapti; qaytarmadi*;
      qaytmadi; qaytarishmadi; qaytmayapti; tushmadi; tushmayapti; javob .. bermayapti|bermadi|yo'q|bermaysiz*|
      berishmadi; hech kim .. qilmadi|bermadi|bermayapti|kelmadi|javob|qo'ng'iroq|yordam|yo'q|aytmadi|qilmayapti;
      hali ham|hanuz|haligacha|haliyam; hali kelmadi|yo'q; kutyapman; kutib; kutdim; necha kun*|marta|soat|hafta|oy;
      uch|to'rt|besh|ikki|o'n|bir kundan|haftadan|oydan|soatdan|kun|hafta|marta .. kutyapman|beri|bo'ldi|qo'ng'iroq|
      yo'q; ikkinchi|uchinchi|to'rtinchi|beshinchi|nechanchi marta; ikki marta .. yechi*|olin*|to'la*; yechib ol*;
      pulim*|pul .. yechi*|yo'q|g'oyib|qaytar*|kuydi; ortiqcha .. pul|to'lov|yech*; buzil*; buzuq; singan; sinib;
      yorilgan; shikast*; yo'qol*; yo'qot*; kechik*; yana .. ishlamay*|buzildi|uzil*|o'chdi|xuddi|o'sha; doim|doimo
      .. uzil*|o'ch*; uzilib; uzilyapti; uzildi; noto'g'ri; boshqa .. kelibdi|keldi|kelgan|rang|o'lcham; xato;
      adashib; qachongacha; charchadim; charchab; to'ydim; jonimga tegdi; bezor*; bo'ladimi shunday|axir; bu qanaqa;
      bu qanday .. xizmat|ish|gap|bo'ldi; mas'uliyatsiz*; hurmatsizlik; qo'pol*; pulimni qaytar*; pulimni; qaytarib
      bering; sudga; rahbar*; boshlig'ingiz; boshqa .. bankka|operatorga|kompaniyaga o't*; tashvish*; xavotir*;
      qo'rq*; qiynal*; internet .. yo'q; aloqa yo'q; gaz|svet|suv|elektr .. yo'q|o'chdi; o'g'irla*; va'da .. qil*|
      ber*; va'da; shoshilinch; qoniqarsiz; afsus .. siz; sifatsiz; ayb*; kelishmadi; yopishmayapti; asossiz;
      befarq*; muammo .. hal bo'lmadi|bo'lmayapti; bloklanib; bloklangan; bloklandi; bo'lmayapti; kirolmayapman;
      kira olmayapman; qila olmayapman; chiqmayapti; ochilmayapti; ! adashib tush*|qo'ng'iroq*|telefon*; ! oylik* ..
      kechik*
    `,
    empathy: `
      uzr; kechir*; kechirasiz; kechiring; uzr so'rayman|so'raymiz; avf eting; tushunaman; tushunamiz; sizni (juda|
      yaxshi|to'liq|to'g'ri) [yaxshi] tushunaman|tushunamiz|tushundim; tushunarli .. holat|his; afsuslan*;
      afsusdaman; afsusdamiz; xavotir olmang; xavotirlanmang; tashvishlanmang; tashvish chekmang; havotir olmang;
      xotirjam bo'ling; xavotirga o'rin yo'q; sabringiz uchun; sabr .. uchun (rahmat|tashakkur|minnatdor*);
      kutganingiz uchun .. rahmat|tashakkur; noqulaylik*; noqulaylik uchun; noxush .. holat|vaziyat; noxush;
      yoqimsiz .. holat|vaziyat; siz haqsiz; haqsiz; mutlaqo haqsiz; haqlisiz; bizning aybimiz|xatomiz|xatoyimiz;
      aybimizni; achinaman; ko'nglingiz*; o'rningizda .. bo'lganimda|men|bo'lsam; xabar berganingiz uchun;
      aytganingiz uchun; his qil*; bezovta .. bo'lganingiz; bezovtaligingiz*; asabiylashganingiz*; xafa
      bo'lganingiz*; qanchalik .. noqulay|yoqimsiz|qiyin|og'ir|xavotir*; hamdard*; ! uzr lekin|ammo; ! kechirasiz
      lekin|ammo|siz; ! kechirasiz .. eshitmadim; ! tushunmay*; ! uzr .. eshitmadim; ! kechirasiz ismingiz|kim; !
      kechirasiz|uzr bu|men|biz
    `,
    understanding: `
      to'g'ri angladimmi|anglabmanmi|eshitdimmi; tekshirib olaylik; o'z so'zingiz bilan; xohlagandingiz to'g'rimi; qaytarib bering;
      to'g'ri tushundingiz; shumi; shu ikkalasini .. so'rayapsizmi; qaytaraman; qaytarib .. chiqaman; takrorlayman; to'g'ri yozdimmi|eshitdimmi|oldimmi; adashmadimmi; demak .. to'g'rimi|shundaymi; yana bir bor .. aytaman; tushuntira oldimmi;
      to'g'ri tushundimmi|tushunibmanmi|tushundim|tushunyapmanmi; to'g'rimi; to'g'ri mi; tushunarlimi; tushunarli mi;
      tushundingizmi; tushundizmi; aniqmi; shundaymi; shunaqami; ma'qulmi; maqulmi; qulaymi; mosmi; mos keladimi;
      to'g'ri keladimi; rozimisiz; rozimi; kelishdikmi; qoniqtiradimi; takrorla*; qaytarib .. aytaman|o'tay; takrorlab
      .. o'taman; tasdiqla*; tasdiqlaysizmi; tekshirib olay; aniqlashtirib .. olay|olsak; demak siz; siz ..
      demoqchimisiz|xohlaysizmi; ya'ni siz; xulosa qil*; to'g'ri .. tushungan bo'lsam; sizni to'g'ri
    `,
    next_step: `
      # .. soat|kun|daqiqa|minut|ish|hafta; # soatgacha|kungacha|soatda|daqiqada|kunda;
      bir|ikki|uch|to'rt|besh|o'n|yigirma|o'ttiz|qirq|yetti|yarim (soat|kun|daqiqa|minut|ish kuni|hafta)
      ichida|ichda|da|davomida|gacha; bir|ikki|uch|to'rt|besh|o'n|yetti soatda|kunda|daqiqada|soatgacha|kungacha; soat
      ichida; kun ichida; daqiqa ichida; ish kuni* .. ichida|davomida|da; bugun ..
      soat|gacha|kech*|oqshom|kechqurun|ichida|olib|yetkaz*|sizga|tushdan; bugunoq; ertaga ..
      soat|gacha|ertalab|tushgacha|kech*|tushdan|kuni|sizga|usta|kuryer|kurer|olib|yetkaz*|#; ertagayoq; ertalab ..
      soat; dushanba*|seshanba*|chorshanba*|payshanba*|juma|jumaga|jumagacha|shanba*|yakshanba*; soat # ..
      da|gacha|dan; soat .. bir|ikki|uch|to'rt|besh|olti|yetti|sakkiz|to'qqiz|o'n*; soat .. birda|ikkida|uchda|to'rtda
      |beshda|oltida|yettida|sakkizda|to'qqizda|o'nda|birgacha|ikkigacha|beshgacha|oltigacha|o'ngacha; o'zim ..
      (qo'ng'iroq qilaman|bog'lanaman|telefon qilaman|xabar beraman|nazorat*); sizga .. (qo'ng'iroq qilaman|qo'ng'iroq
      qilamiz|telefon qilaman|xabar beraman|xabar beramiz|bog'lanaman|yuboraman|yuboramiz); siz bilan ..
      bog'lanaman|bog'lanamiz; (qo'ng'iroq|telefon) qilaman|qilamiz; bog'lanaman|bog'lanamiz; xabar
      beraman|beramiz|yuboraman|yuboramiz|keladi|boradi; xabar .. keladi|boradi|yuboriladi; sms ..
      keladi|xabar|boradi|yuboriladi|yuboraman|orqali; sms; smsni; havola .. yuboraman|yuboramiz|keladi;
      usta|kuryer|kurer|mutaxassis|texnik|menejer|muhandis|brigada|hamkasbim ..
      keladi|boradi|bog'lanadi|yetib|qo'ng'iroq|yetkazadi|chiqadi|olib;
      ariza|murojaat|so'rov|buyurtma|bron|navbat|qabul raqami|raqamingiz; ariza raqam*; murojaat raqam*; trek raqam*;
      raqamingiz .. #; qabul* .. yozdim|yozib|yozildingiz|yozaman; yozib qo'ydim; agar .. (qo'ng'iroq qiling|murojaat
      qiling|xabar bering); keyingi qadam; kelishdik; elektron pochta*; pochtangizga; telefoningizga .. xabar|sms|kod;
      sana; gacha; bugundan; ertadan; # gacha; muddat*; ! ertaga .. balki; ! balki .. ertaga; ! ertaga .. (qo'ng'iroq
      qiling|telefon qiling)
    `,
    further_help: `
      yana nimada|nimaga|nimani|nimalar; bemalol so'rayvering|so'rang; yana .. so'rayvering|so'raysizmi|ko'maklash*;
      ! yana bir marta|kun|daqiqa|bor|oy|soat; ! yana .. kutib|kuting|aytaman;
      yana .. (savol*|yordam|biror|nima|xizmat|qanday|boshqa|masala|qo'shimcha); yana (biror|nima|qanday); boshqa ..
      savol*|masala*|yordam|murojaat*|narsa|xizmat|savolingiz; qo'shimcha savol*; savollaringiz .. bormi|qoldimi|
      yo'qmi|bo'lsa; savolingiz .. bormi|qoldimi|bo'lsa; savollar .. bormi|qoldimi|bo'lsa; yana nima .. yordam; yana
      yordam; yordam .. kerakmi yana; agar .. savol*|savollaringiz .. bo'lsa; istalgan vaqtda .. murojaat|
      qo'ng'iroq; savol tug'ilsa; boshqa narsa
    `,
    farewell: `
      ko'rishamiz; eson omon; salomat qoling|boring; yaxshi yetib; xudo .. saqlasin; sog' omon; xayrli|hayrli tun|oqshom;
      xayr; hayr; xayrlashamiz; salomat bo'ling; sog' bo'ling; sog' salomat bo'ling; omon bo'ling; omad; omad
      tilayman|tilaymiz; xayrli kun|kech|tun|oqshom; hayrli kun|kech; yaxshi kun; kuningiz .. xayrli|yaxshi|
      barakali|maroqli|unumli; kuningiz; murojaatingiz uchun .. rahmat|tashakkur; qo'ng'irog'ingiz uchun .. rahmat|
      tashakkur; qo'ng'iroq qilganingiz uchun .. rahmat|tashakkur; murojaat qilganingiz uchun; bizni tanlaganingiz
      uchun; ko'rishguncha; ko'rishgunimizcha; o'zingizni asrang; oq yo'l; yaxshi qoling|boring|dam oling; alvido;
      tuzalib keting; shifo tilayman|tilaymiz; kuningiz xayrli; yaxshi kayfiyat; ! omad yo'q
    `,
    abuse: `
      ahmoq*; axmoq*; tentak*; jinni*; eshak*; haromi*; itvachcha; it emgan; la'nati; yaramas*; xunasa; ovozingizni
      o'chiring; ovozingni o'chir; og'zingizni yoping; og'zingni yop; yo'qol; yo'qoling; daf bo'l*; padaringga*;
      onangni*; galvars; galvarsmisiz; kallavaram; miyangiz .. yo'q|bormi; aqlingiz .. yo'q|joyidami|bormi; nodon;
      savodsiz; savodsizmisiz; to'nka; tupoy; durak; ablah; kaltafahm; befahm; ! ahmoq .. deb|demang; ! jinni ..
      (bo'laman|bo'lib)
    `,
    rudeness: `
      nima (kerak|istaysiz|xohlaysiz) sizga; sizga nima kerak; nima kerak; nima gap; xo'sh nima; nima bo'pti; shunga
      nima; nima bo'libdi; menga nima; menga .. (baribir|farqi yo'q|qiziq emas); farqi yo'q; baqirmang; qichqirmang;
      baqiryapsiz; shovqin .. qilmang; jim bo'ling; tinchlaning; tez gapiring; tezroq .. gapiring|ayting|bo'ling;
      tez ayting|bo'ling; qisqa qiling; vaqtimni .. olmang|oldingiz|olyapsiz; vaqtim yo'q; bandman; men bandman;
      necha marta .. aytaman|aytish|tushuntiraman|aytdim; aytdim ku; aytdimku; aytdim shu; gapni .. cho'zmang|qisqa;
      ko'p gapirmang; eshitmayapsizmi; karmisiz; quloqsiz*; o'qishni .. bilmaysizmi; tushunmaysizmi;
      tushunmayapsizmi; bezovta qilmang; qo'ng'iroq qilmang; boshimni .. og'ritmang|qotirmang; go'shakni qo'yaman;
      trubkani qo'yaman; o'chiraman hozir; shikoyat qilavering; shikoyat qiling; xohlagan* .. shikoyat|joyingiz*|
      qiling; istagan .. joyingiz*|qiling; yoqmasa .. ketavering|boshqa|boring|o'zingiz; yoqmayaptimi; ketavering;
      nima muncha; uf; voy xudo; xudoyim; yana siz; mening ishim emas; mening muammom emas; sizning muammoingiz;
      sizning muammongiz; bu sizning muammo*; o'zingizning muammo*; ish vaqtim; menga nima aloqasi; sizdan boshqa;
      bitta siz; siz bitta; yolg'iz siz; nolimang; hadeb; javrama*; gap sotma*; ! sizga nima kerak .. bo'lsa; ! nima
      gap .. yordam; tushligim; tushlik vaqtim|qilyapman; jahlimni chiqarmang; asabimni buzmang; tortishmang;
      urishmang; ! yana .. nima kerak; ! nima kerak edi
    `,
  },
  cues: {
    problem: `
      xohlayman; xohlardim; istayman; istardim; kerak; kerak edi; menga .. kerak|keldi|kelmadi; mening .. kartam|
      internetim|buyurtmam|hisobim|pulim|telefonim|posilkam; kartam*; buyurtmam*; internetim*; pulim*; hisobim*;
      telefonim*; muammo*; savolim .. bor; ishlamay*; kelmadi; kelmayapti; kelgani yo'q; buyurtma .. bergandim|
      berganman|bergan|qilgandim; sotib ol*; to'ladim; to'lov .. qildim; yechib ol*; yechilib*; qila olmayapman;
      kira olmayapman; kirolmayapman; qachon .. keladi|qaytadi|tuzatil*; qayerda; qo'ng'iroq qilyapman; qo'ng'iroq
      qilayotgan*; bilmoqchi*; bilsam*; so'ramoqchi*; bloklan*; yo'qot*; yordam bering; mumkinmi; ochmoqchi*;
      olmoqchi*; yozilmoqchi*; bekor qilmoqchi*
    `,
    question: `
      nima; qanday; qanaqa; qachon; qayerda; qayerga; qayerdan; nega; nimaga; kim; kimga; qaysi; necha; nechta;
      qancha; qanchaga; nechanchi
    `,
    question_end: `
      bormi; mumkinmi; kerakmi; bo'ladimi; to'g'rimi; tushunarlimi; shundaymi; qulaymi; ma'qulmi; xohlaysizmi;
      olasizmi; berasizmi; aytasizmi; ko'rdingizmi; keldimi; ishladimi; yo'qmi; rozimisiz; bera olamiz; bera olaman;
      berishim mumkin; nima bo'ldi; tushundingizmi; qoldimi; yaxshimisiz; tushundimmi
    `,
    hold: `
      bir daqiqa|soniya|zum|minut|pas|lahza; kutib turing|turasizmi|tursangiz|tura; kuting; liniyada .. qoling|turing|kuting|bo'ling; go'shakni qo'ymang; ozgina|biroz .. kut*|sabr
    `,
    serving: `
      qanday yordam .. olaman|beray|bera; qanday xizmat; qo'ng'irog'ingiz|murojaatingiz|qilganingiz uchun .. rahmat|tashakkur; eshitaman; labbay; mijozlarga xizmat; ismingiz nima|kim; familiyangiz*; raqamingizni .. ayt*; shartnoma|buyurtma|karta raqam*; hozir tekshir*; ko'ryapman; aloqa markazi; qo'llab quvvatlash
    `,
    reports: `
      aytishicha; aytishlaricha; xatda .. yozilgan; uning so'zlari|gapi
    `,
    reported: `
      dedi; dedilar; deyishdi; deydi; deyishadi; deyapti; deyishyapti; degan edi; degandi; deb aytdi|aytishdi|
      baqirdi|yozdi|yozgan|yozibdi|so'radi|so'kdi|ketdi|haqorat; deb .. aytdi|aytishdi
    `,
    then_name: `
      men; bu; bu yerda; operator|mutaxassis|menejer|maslahatchi|xodim|konsultant|administrator|dispetcher; operatori|
      mutaxassisi|menejeri|xodimi; aloqada|telefonda|go'shakda|liniyada; sizni tinglayotgan; sizga xizmat ko'rsatayotgan
    `,
    name_then: `
      bo'laman; gapiryapman|gapirmoqda|so'zlayapman|gaplashyapti; aloqada|telefonda|go'shakda|liniyada; xizmatingizda;
      eshitadi|tinglaydi|tinglayapti; eshitaman|eshityapman|tinglayman|tinglayapman
    `,
    name_apart: "eshitaman; eshitamiz; eshityapman; tinglayman; tinglayapman; qulog'im sizda",
  },
  topics: {
    refund: `
      qaytarib ber*; pulimni|pulni|pul|mablag'*|to'lovni .. qaytar*; pulim .. qaytar*; qaytarish; qaytariladi;
      kompensatsiya; vozvrat
    `,
    cancellation: "bekor qil*; bekor; voz kech*; obunani .. o'chir*; shartnomani .. bekor; hisobni yop*",
    complaint: "shikoyat*; norozi*; rahbar*; arz qil*; boshlig'*; sudga",
    delivery: `
      yetkaz*; yetkazib ber*; kuryer*; kurer*; posilka*; jo'natma*; ombor*; pochta; trek; dastavka; dostavka
    `,
    order: 'buyurtma*; zakaz*; xarid*; sotib ol*; savat*',
    billing: `
      hisob faktura; yechib ol*; yechil*; yechib; abonent to'lov*; kvitansiya*; tarif*; komissiya*; hisob kitob
    `,
    payment: "to'lov*; to'la|to'lash|to'ladim|to'lagan*|to'lay*; qarz*; qarzdorlik; muddatli; oylik to'lov",
    loan: 'kredit*; ipoteka*; foiz; stavka; qarz ol*; garov; ! kredit karta*',
    card: `
      karta|kartam*|kartani|kartangiz*|kartaga|kartadan|kartasi*; plastik; bankomat*; pin; humo; uzcard; ! sim
      karta*
    `,
    account: `
      hisob|hisobim*|hisobga|hisobingiz*|hisobni; parol*; shaxsiy kabinet; login; kirish; profil*; kod; akkaunt*;
      kira olma*; kirolma*
    `,
    transfer: "o'tkazma*; pul o'tkaz*; perevod; qabul qiluvchi; rekvizit*; pul jo'nat*; pul yubor*",
    insurance: "sug'urta*; polis*; osago; avtohalokat; strahovka",
    fraud: "firibgar*; aldad*; o'g'irla*; tovlamachi*; shubhali; mening roziligimsiz; buzib kir*",
    internet: 'internet*; wifi; wi fi; vayfay; router*; modem*; tezlik*; provayder*; optika*; tarmoq*; kabel*',
    mobile: `
      sim; sim karta*; simkarta*; rouming; gigabayt*; megabayt*; daqiqa .. paket*; paket*; aloqa; raqamni ..
      ko'chir*; mobil aloqa
    `,
    technical: `
      ishlamay*; xato*; ilova*; nosoz*; nosozlik; sozla*; yangila*; buzil*; usta*; ta'mir*; qurilma*; texnik*;
      dastur*; tuzat*
    `,
    appointment: `
      qabul*; shifokor*; doktor*; klinika*; navbat*; yozil*; konsultatsiya*; ko'rik; terapevt; stomatolog*; tahlil*;
      vrach*; ! qabul qil*
    `,
    price: 'narx*; qancha turadi; chegirma*; aksiya*; qimmat; arzon; promokod*; tannarx; pul turadi',
    product: "mahsulot*; tovar*; o'lcham*; rang*; sifat*; kafolat*; almashtir*; model*; yaroqsiz; nuqson*",
    documents: "hujjat*; ma'lumotnoma; shartnoma*; pasport*; imzo*; ariza*; spravka; chek; cheki",
    travel: `
      bilet*; chipta*; reys*; mehmonxona*; sayohat*; yuk; bagaj*; viza*; samolyot*; aeroport*; tur; turlar; bron*;
      parvoz*
    `,
    employment: "ish o'rni; vakansiya*; rezyume; suhbat; ish haqi; maosh*",
    health: `
      kasalxona*; shifoxona*; dorixona*; dori|dorilar|dorini; retsept*; og'riq*; og'riyapti; isitma*; tez yordam;
      davolan*; emlash*
    `,
    utilities: `
      elektr energiya*; elektr ta'minot*; svet|svetni; suv yo'q; issiq suv; gaz yo'q; gaz ta'minot*; isitish*;
      hisoblagich*; kommunal*; kanalizatsiya*
    `,
    safety: "xavfli; gaz hidi; tutun*; yong'in*; yonyapti; uchqun*; tok urdi; evakuatsiya*",
    lost_property: "unutib qoldir*; qoldirib ket*; yo'qotib qo'y*; topilma*; yo'qolgan|unutilgan buyum*",
  },
  negations: {
    before: 'hech; na; hechqachon; aslo',
    after: `
      emas*; yo'q; olmayman; olmaymiz; olmaydi; olmaysiz; bermayman; bermaymiz; qilmayman; qilmaymiz; bo'lmaydi;
      bilmayman; emasman; emasmiz; kerakmas; mumkinmas
    `,
  },
};
