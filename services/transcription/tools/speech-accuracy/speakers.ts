import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

/** Something that somebody says: a recording of it, or a voice of a synthesizer that reads it. */
export interface Line {
  readonly name: string;
  readonly text: string;
  readonly source: { readonly file: string } | { readonly synthesizer: Synthesizer; readonly voice: string };
}

type Synthesizer = 'espeak-ng' | 'flite' | 'open_jtalk' | 'text2wave';

export interface Speaker {
  readonly name: string;
  readonly language: string;
  /**
   * Speakers of one set call each other: the language, or `de-synthetic` for voices of a language that people speak
   * too.
   */
  readonly set: string;
  readonly half: Half;
  readonly lines: readonly Line[];
}

const SOUNDS = 'usr/share/asterisk/sounds';
/** Nine Indians who read an English paragraph: the folders of their recordings, which are cut every six seconds. */
const INDIANS = ['0063', '0069', '0088', '0095', '0025', '0028', '0034', '0000', '0009'];

/**
 * The prompts of Asterisk's packages in Debian, and others: the folder, whether a package has the texts, and the halves that
 * the speaker is in, if not in all. The name ends in the language.
 */
const PROMPTS: readonly {
  readonly name: string;
  readonly folder: string;
  readonly hasTexts?: true;
  readonly halves?: readonly Half[];
}[] = [
  { name: 'allison-en', folder: `${SOUNDS}/en_US_f_Allison`, hasTexts: true },
  { name: 'ivrvoice-ru', folder: `${SOUNDS}/ru_RU_f_IvrvoiceRU`, hasTexts: true },
  { name: 'allison-es', folder: `${SOUNDS}/es_MX_f_Allison`, hasTexts: true },
  { name: 'june-fr', folder: `${SOUNDS}/fr_CA_f_June`, hasTexts: true },
  { name: 'carlo-it', folder: `${SOUNDS}/it_IT_m_Carlo`, hasTexts: true },
  // Their texts are nearly those of the first ones, but not to the word.
  { name: 'avatar-es', folder: `${SOUNDS}/es` },
  { name: 'armelle-fr', folder: `${SOUNDS}/fr` },
  { name: 'menardi-it', folder: `${SOUNDS}/it_IT_f_Menardi` },
  { name: 'beronet-de', folder: beronet('de') },
  { name: 'richard-en', folder: 'freeswitch-sounds-en-gb-richard/48000', halves: ['unheard', 'fresh'] },
  { name: 'austen-en', folder: 'usr/share/pocketsphinx/test/data/librivox', halves: ['unheard', 'fresh'] },
  ...INDIANS.map((each) => ({
    name: `indian-${each}-en`,
    folder: `Accent-Classifier/lines/${each}`,
    halves: ['fresh'] as const,
  })),
  { name: 'matthew-en', folder: 'freeswitch-sounds-polly/Matthew-neural/ivr/16000', halves: ['fresh'] },
  { name: 'hans-de', folder: 'freeswitch-sounds-polly/Hans-standard/ivr/16000', halves: ['fresh'] },
  { name: 'beronet-es', folder: beronet('es'), halves: ['fresh'] },
  { name: 'beronet-fr', folder: beronet('fr'), halves: ['fresh'] },
];

function beronet(language: string): string {
  return `asterisk-sounds/asterisk_sounds_${language}/template/lib/asterisk/sounds`;
}

/** The variants of espeak-ng for a language of which there are no recordings, or few. */
function variantsOf(language: string): Record<Half, readonly string[]> {
  const voices = (...variants: readonly string[]) => variants.map((variant) => `espeak-ng ${language}${variant}`);
  return {
    tuning: voices('', '+f2', '+m1', '+f1', '+m6', '+m8'),
    judging: voices('+m7', '+f4'),
    unheard: voices('+m3', '+f5'),
    fresh: voices('+Alex', '+anika', '+max', '+steph'),
  };
}

function espeak(voices: string): string[] {
  return voices.split(/\s+/u).map((voice) => `espeak-ng ${voice}`);
}

/** A synthesizer for Japanese alone has one voice, which is in every half but the first. */
function japanese(): Record<Half, readonly string[]> {
  const { tuning, ...others } = variantsOf('ja');
  const withMei = (voices: readonly string[]) => voices.toSpliced(1, 0, 'open_jtalk mei_normal');
  return {
    tuning,
    judging: withMei(others.judging),
    unheard: withMei(others.unheard),
    fresh: withMei(others.fresh),
  };
}

/**
 * Synthetic voices of each half, by set. The variants of espeak-ng differ in pitch and timbre, those of English in
 * accent too.
 */
const VOICES: Readonly<Record<string, Readonly<Record<Half, readonly string[]>>>> = {
  en: {
    tuning: [
      'flite slt',
      'flite kal16',
      ...espeak(`en-us+f2 en-gb-scotland+m3 en-gb-x-gbcwmd+m1 en-029+f2 en-us-nyc+m6 en-gb-x-gbclan+f4 en-gb-x-rp+m2
        en-gb-scotland+f2 en-029+m8 en-gb-x-gbcwmd+f2 en-gb+m7 en-us-nyc+f1`),
    ],
    judging: ['flite rms', 'flite awb', ...espeak(`en-gb-x-rp+f4 en-029+m7 en-us-nyc+m1`)],
    unheard: [
      'text2wave ked_diphone',
      ...espeak(`en-gb+f1 en-gb-x-gbclan+m2 en-gb-x-gbcwmd+f3 en-gb-scotland+f5 en-029+f1 en-us-nyc+f3 en-us+m4
        en-gb-x-rp+m5`),
    ],
    fresh: [
      'text2wave kal_diphone',
      'text2wave cmu_us_slt_arctic_hts',
      ...espeak(`en-gb+anika en-gb-x-gbclan+linda en-gb-x-gbcwmd+Diogo en-gb-x-gbcwmd+belinda en-gb-scotland+adam
        en-gb-scotland+Annie en-029+steph en-029+Mario en-us-nyc+max en-us-nyc+Alicia en-us+john
        en-gb-x-rp+Alex`),
    ],
  },
  uz: variantsOf('uz'),
  ky: variantsOf('ky'),
  'de-synthetic': variantsOf('de'),
  ja: japanese(),
};

/** The speakers of one half. `directory`: what scripts/speech-material.sh made. */
export function speakers(directory: string, half: Half): Speaker[] {
  return [...recorded(directory, half), ...synthetic(directory, half)];
}

function recorded(directory: string, half: Half): Speaker[] {
  const read = PROMPTS.map(({ name, folder, hasTexts = false, halves = HALVES }) => {
    const language = name.slice(-2);
    const words = hasTexts ? textsOf(directory, language) : transcriptionsIn(join(directory, folder));
    const lines = filesIn(join(directory, folder)).flatMap((path): Line[] => {
      const prompt = path.replace(/\.(wav|gsm)$/, '');
      const text = words.get(prompt);
      if (hasTexts && (text === undefined || !/\p{L}{2}/u.test(text))) return [];
      return [{ name: prompt, text: text ?? '', source: { file: join(directory, folder, path) } }];
    });
    // Speakers without texts are never used for tuning; the prompts of the others are divided by their names.
    const isHeard = half !== 'tuning' && halves.includes(half);
    return { name, language, set: language, half, lines: hasTexts ? divided(lines, half) : isHeard ? lines : [] };
  });
  return [...read, ...(half === 'tuning' ? [] : [novel(directory, half)])].filter(({ lines }) => lines.length > 0);
}

/** Sentences of a Russian novel from festvox-ru. */
function novel(directory: string, half: Half): Speaker {
  const folder = join(directory, 'usr/share/festival/voices/russian/msu_ru_nsh_clunits');
  const list = readFileSync(join(folder, 'etc/txt.done.data'), 'utf8');
  const lines = [...list.matchAll(/^\( (\S+) "(.*)" \)/gm)].map(([, name, text]): Line => ({
    name: name!,
    text: text!.replaceAll('+', ''),
    source: { file: join(folder, `wav/${name}.wav`) },
  }));
  return { name: 'nsh-ru', language: 'ru', set: 'ru', half, lines };
}

function synthetic(directory: string, half: Half): Speaker[] {
  return Object.entries(VOICES).flatMap(([set, voices]) =>
    voices[half].flatMap((each) => {
      const [synthesizer, name] = each.split(' ') as [Synthesizer, string];
      const language = set.slice(0, 2);
      const voice = synthesizer === 'open_jtalk' ? join(directory, `${name}.htsvoice`) : name;
      if (synthesizer === 'open_jtalk' && !existsSync(voice)) return [];
      const lines = syntheticTexts(language, half).map((text, at): Line => ({
        name: `${language}-${at}`,
        text,
        source: { synthesizer, voice },
      }));
      return [{ name: each.replace(' ', ':'), language, set, half, lines }];
    }),
  );
}

/** Every other line, in the order of names. */
function divided(lines: readonly Line[], half: Half): Line[] {
  return lines.toSorted((a, b) => (a.name < b.name ? -1 : 1)).filter((_, at) => (at % 2 === 0) === (half === 'tuning'));
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => /\.(wav|gsm)$/.test(path) && !path.startsWith('silence'),
  );
}

function textsOf(directory: string, language: string): Map<string, string> {
  const file = join(directory, `usr/share/doc/asterisk-core-sounds-${language}/core-sounds-${language}.txt.gz`);
  const list = gunzipSync(readFileSync(file)).toString();
  return new Map([...list.matchAll(/^([\w/-]+): (.+)$/gm)].map(([, name, text]) => [name!, spokenOf(text!)]));
}

/** What is said in recordings that have such a file, as Sphinx's do: "<s> words </s> (name)". */
function transcriptionsIn(folder: string): Map<string, string> {
  const file = join(folder, 'transcription');
  const list = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return new Map([...list.matchAll(/^<s> (.+) <\/s> \((.+)\)$/gm)].map(([, text, name]) => [name!, text!]));
}

/** The texts describe what is not speech in brackets, and mark with dots where a prompt is continued. */
function spokenOf(text: string): string {
  return text.replaceAll(/\[[^\]]*\]|\([^)]*\)|\.\.\./gu, ' ').trim();
}

/**
 * `tuning` material may set thresholds; figures are those of `judging` material, which may not. Refusals of `judging` calls
 * were the reason for a change of the spoken-language model, and those of `unheard` calls for looking at the text of
 * doubtful calls. Refusals are therefore counted on `fresh` material: other voices and accents, speakers that nobody had
 * heard before, and other calls of the prompts that set no threshold.
 */
export const HALVES = ['tuning', 'judging', 'unheard', 'fresh'] as const;
export type Half = (typeof HALVES)[number];

/** Sentences of invented calls in languages for which there are no conversations in the repository. */
const SENTENCES: Readonly<Record<string, readonly string[]>> = {
  de: [
    'Guten Tag, hier spricht der Kundendienst, wie kann ich Ihnen helfen?',
    'Meine Bestellung ist seit zwei Wochen nicht angekommen.',
    'Das tut mir sehr leid, ich schaue sofort nach, wo sich das Paket befindet.',
    'Können Sie mir bitte Ihre Kundennummer und Ihre Postleitzahl nennen?',
    'Ich habe die Rechnung schon bezahlt und trotzdem eine Mahnung bekommen.',
    'Das Geld wird Ihnen innerhalb von fünf Werktagen zurückerstattet.',
    'Seit gestern Abend funktioniert mein Internet überhaupt nicht mehr.',
    'Haben Sie den Router schon einmal aus- und wieder eingeschaltet?',
    'Ja, das habe ich dreimal gemacht, aber die Lampe blinkt immer noch rot.',
    'Dann schicke ich Ihnen morgen zwischen acht und zwölf Uhr einen Techniker.',
    'Ich möchte meinen Vertrag kündigen, weil er mir zu teuer geworden ist.',
    'Darf ich Ihnen vorher ein günstigeres Angebot machen?',
    'Ihre Karte ist aus Sicherheitsgründen gesperrt worden.',
    'Ich stehe gerade an der Kasse und kann meine Einkäufe nicht bezahlen.',
    'Einen Augenblick bitte, ich verbinde Sie mit der zuständigen Abteilung.',
    'Vielen Dank für Ihre Geduld, die Sperre ist jetzt aufgehoben.',
    'Kann ich den Termin beim Zahnarzt auf nächsten Donnerstag verschieben?',
    'Am Donnerstag um halb drei wäre noch etwas frei.',
    'Die Waschmaschine schleudert nicht und macht ein seltsames Geräusch.',
    'Sie haben noch Garantie, die Reparatur kostet Sie also nichts.',
    'Ich warte jetzt schon eine halbe Stunde in der Leitung!',
    'Entschuldigen Sie bitte, heute rufen außergewöhnlich viele Menschen an.',
    'Gibt es sonst noch etwas, was ich für Sie tun kann?',
    'Nein danke, das war alles, auf Wiederhören und einen schönen Tag.',
  ],
  ja: [
    'おでんわ ありがとうございます、おきゃくさま さぽーと です。',
    'せんしゅう ちゅうもんした にもつが まだ とどいていません。',
    'たいへん もうしわけございません、すぐに おしらべいたします。',
    'おきゃくさまの ばんごうと おなまえを おねがいします。',
    'せいきゅうしょは もう しはらいましたが、また とどきました。',
    'ごじつ ぎんこうの こうざに へんきんさせて いただきます。',
    'きのうの よるから いんたーねっとが まったく つながりません。',
    'でんげんを いちど きって、もういちど いれて いただけますか。',
    'さんかい ためしましたが、あかい らんぷが てんめつしています。',
    'それでは あしたの ごぜんちゅうに かかりの ものが うかがいます。',
    'りょうきんが たかいので けいやくを やめたいと おもいます。',
    'もうすこし おやすい ぷらんを ごあんないしても よろしいでしょうか。',
    'あんぜんの ために かーどの ごりようを とめております。',
    'いま おみせに いるのですが、しはらいが できなくて こまっています。',
    'たんとうの ものに おつなぎしますので、しょうしょう おまちください。',
    'おまたせいたしました、かーどは もう おつかいに なれます。',
    'よやくを らいしゅうの もくようびに へんこうできますか。',
    'もくようびの ごごにじはんで したら あいております。',
    'せんたくきから へんな おとが して、みずが ながれません。',
    'ほしょうきかんちゅうですので、しゅうりは むりょうです。',
    'もう さんじゅっぷんも まっているのですが。',
    'ほんじつは おでんわが たいへん こみあっております。',
    'ほかに なにか ごしつもんは ございますか。',
    'いいえ、だいじょうぶです、ありがとうございました。',
  ],
};

const CONVERSATIONS = fileURLToPath(new URL('../../../analysis/evaluation/', import.meta.url));

/** The texts of synthetic voices in one half: the lines of conversations that were written for that half. */
function syntheticTexts(language: string, half: Half): readonly string[] {
  const sentences = SENTENCES[language];
  if (sentences !== undefined) return sentences.filter((_, at) => (at % 2 === 0) === (half === 'tuning'));
  const folder = `${CONVERSATIONS}${half === 'tuning' ? 'tuning' : 'held-out'}/`;
  const files = readdirSync(folder)
    .filter((name) => name.startsWith(language))
    .toSorted();
  return files.flatMap((name) =>
    readFileSync(folder + name, 'utf8')
      .trim()
      .split('\n')
      .flatMap((line) => (JSON.parse(line) as { utterances: { text: string }[] }).utterances.map(({ text }) => text)),
  );
}
