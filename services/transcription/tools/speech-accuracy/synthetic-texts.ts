import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Half } from './halves.ts';

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
export function syntheticTexts(language: string, half: Half): readonly string[] {
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
