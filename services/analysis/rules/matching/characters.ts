/** What a UTF-16 unit does to the words around it. */
export const SEPARATOR = 0;
/** Belongs to a word. */
export const LETTER = 1;
/** Combining marks belong to the letter before them and change nothing. */
export const MARK = 2;
/** Apostrophes, soft hyphens and joiners vanish inside a word and part words elsewhere. */
export const SILENT = 3;
/** Ends a clause: a negation or a quote does not reach past it. */
export const CLAUSE_END = 4;
/** `.` ends a sentence when no word and no other dot follows. */
export const DOT = 5;
export const EXCLAMATION = 6;
export const QUESTION = 7;
/** Opens a question, in Spanish. */
export const INVERTED_QUESTION = 8;
/** Controls and halves of pairs; a quote never holds a control or half a pair. */
export const CONTROL = 9;
export const SURROGATE = 10;

const APOSTROPHES = "'`´ʹʻʼʽˈ‘’‛′＇";
const JOINERS = '\u00ad\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f';
const CLAUSE_ENDS = ',;:—–…()[]{}«»"“”„|/\\\u2028\u2029，；：、';

/**
 * Letters that people swap when a keyboard lacks the right one: an Uzbek or Kyrgyz letter for the Russian one
 * it was made from. `ъ` has no sound of its own and stands where Latin Uzbek has an apostrophe.
 */
const ALIKE: Readonly<Record<string, string>> = {
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

/** One of the constants above, by UTF-16 unit. */
export const KIND: Readonly<Uint8Array> = kinds;
/** The unit that stands for it in matching: lower case, without marks, look-alikes of neighbouring alphabets joined. */
export const FOLD: Readonly<Uint16Array> = folds;

function foldOf(character: string): number {
  const bare = character.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/\p{M}/gu, '');
  const single = bare.length === 1 ? bare : character;
  return (ALIKE[single] ?? single).charCodeAt(0);
}

function fill(): void {
  const letter = /^[\p{L}\p{N}]$/u;
  const mark = /^\p{M}$/u;
  for (let unit = 0; unit < 0x10000; unit += 1) {
    folds[unit] = unit;
    if (unit >= 0xd800 && unit <= 0xdfff) {
      kinds[unit] = SURROGATE;
    } else if (unit >= 0x3400 && unit <= 0xd7ff) {
      // Han and Hangul: letters without case, and half of the table.
      kinds[unit] = LETTER;
    } else {
      const character = String.fromCharCode(unit);
      if (letter.test(character)) {
        kinds[unit] = LETTER;
        folds[unit] = foldOf(character);
      } else if (mark.test(character)) {
        kinds[unit] = MARK;
      } else if (unit < 0x20 && unit !== 0x09 && unit !== 0x0a && unit !== 0x0d) {
        kinds[unit] = CONTROL;
      }
    }
  }
  const assign = (characters: string, kind: number) => {
    for (let at = 0; at < characters.length; at += 1) kinds[characters.charCodeAt(at)] = kind;
  };
  assign(APOSTROPHES, SILENT);
  assign(JOINERS, SILENT);
  assign('ъЪ', MARK);
  assign(CLAUSE_ENDS, CLAUSE_END);
  assign('.。', DOT);
  assign('!！¡', EXCLAMATION);
  assign('?？؟', QUESTION);
  assign('¿', INVERTED_QUESTION);
  kinds[0x7f] = CONTROL;
}

fill();
