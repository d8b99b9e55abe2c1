/** The kinds of UTF-16 unit. A separator only separates words. */
const SEPARATOR = 0;
/** Part of a word. */
export const LETTER = 1;
/** A combining mark: part of the letter before it, and ignored in matching. */
export const MARK = 2;
/** An apostrophe, soft hyphen or joiner: ignored inside a word, a separator elsewhere. */
export const SILENT = 3;
/** Ends a clause. Negations and quotes do not extend past it. */
export const CLAUSE_END = 4;
/** Ends a sentence unless a letter or another dot follows. */
export const DOT = 5;
export const EXCLAMATION = 6;
export const QUESTION = 7;
/** Opens a question in Spanish. */
export const INVERTED_QUESTION = 8;
/** A quote never contains a control character or an unpaired surrogate. */
export const CONTROL = 9;
/** Half of a character beyond U+FFFF; `kindBeyond` returns its kind. */
export const SURROGATE = 10;

const APOSTROPHES = "'`´ʹʻʼʽˈ‘’‛′＇";
const JOINERS = '\u00ad\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f';
const CLAUSE_ENDS = ',;:—–…()[]{}«»"“”„|/\\\u2028\u2029，；：、';

/**
 * Letters that people replace when their keyboard lacks them: an Uzbek or Kyrgyz letter and the Russian letter it was
 * derived from.
 */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  қ: 'к',
  ғ: 'г',
  ҳ: 'х',
  ң: 'н',
  ө: 'о',
  ү: 'у',
  ı: 'i',
};

const kinds = new Uint8Array(0x10000);
const folds = new Uint16Array(0x10000);

/** The kind of each UTF-16 unit. */
export const KIND: Readonly<Uint8Array> = kinds;
/** The unit that matching compares instead: lower case, without marks, with look-alike letters merged. */
export const FOLD: Readonly<Uint16Array> = folds;

const IS_LETTER = /^[\p{L}\p{N}]$/u;
const IS_MARK = /^\p{M}$/u;

/** The kind of a character beyond U+FFFF: LETTER, MARK or SEPARATOR. */
export function kindBeyond(codePoint: number): number {
  const character = String.fromCodePoint(codePoint);
  if (IS_LETTER.test(character)) return LETTER;
  return IS_MARK.test(character) ? MARK : SEPARATOR;
}

/** The unit that matching compares instead of a letter beyond U+FFFF; 0 when there is none, as for most scripts. */
export function foldBeyond(codePoint: number): number {
  const plain = String.fromCodePoint(codePoint).normalize('NFKD');
  return plain.length === 1 ? folds[plain.charCodeAt(0)]! : 0;
}

function foldLetter(character: string): number {
  const bare = character.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/\p{M}/gu, '');
  const single = bare.length === 1 ? bare : character;
  return (LOOK_ALIKES[single] ?? single).charCodeAt(0);
}

function fillTables(): void {
  for (let unit = 0; unit < 0x10000; unit += 1) {
    folds[unit] = unit;
    if (unit >= 0xd800 && unit <= 0xdfff) {
      kinds[unit] = SURROGATE;
    } else if (unit >= 0x3400 && unit <= 0xd7ff) {
      // Han and Hangul, half of the table, are letters without case.
      kinds[unit] = LETTER;
    } else {
      const character = String.fromCharCode(unit);
      if (IS_LETTER.test(character)) {
        kinds[unit] = LETTER;
        folds[unit] = foldLetter(character);
      } else if (IS_MARK.test(character)) {
        kinds[unit] = MARK;
      } else if (unit < 0x20 && unit !== 0x09 && unit !== 0x0a && unit !== 0x0d) {
        kinds[unit] = CONTROL;
      }
    }
  }
  const assign = (characters: string, kind: number) => {
    for (let index = 0; index < characters.length; index += 1) kinds[characters.charCodeAt(index)] = kind;
  };
  assign(APOSTROPHES, SILENT);
  assign(JOINERS, SILENT);
  // The hard sign has no sound and is written where Latin Uzbek has an apostrophe.
  assign('ъЪ', MARK);
  assign(CLAUSE_ENDS, CLAUSE_END);
  assign('.。', DOT);
  assign('!！¡', EXCLAMATION);
  assign('?？؟', QUESTION);
  assign('¿', INVERTED_QUESTION);
  kinds[0x7f] = CONTROL;
}

fillTables();
