import { ConfigFault } from '@call-analysis/runtime';

/**
 * The program and its arguments: a JSON array of strings, or words separated by blanks. Quotes keep blanks in a word; a
 * backslash (outside single quotes) keeps the next character. No shell is involved, so nothing else has a meaning, and
 * shell operators are refused. ConfigFault does not quote the command, because an argument may be a key.
 */
export function parseCommand(text: string): string[] {
  const trimmed = text.trim();
  const words = trimmed.startsWith('[') ? parseArray(trimmed) : splitWords(trimmed);
  if (words[0] === undefined || words[0] === '') throw new ConfigFault('SPEECH_COMMAND must begin with a program.');
  if (words.some((word) => word.includes('\0')))
    throw new ConfigFault('SPEECH_COMMAND must not contain a NUL character.');
  return words;
}

function parseArray(text: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  throw new ConfigFault('SPEECH_COMMAND begins with [ but is not a JSON array of strings.');
}

function splitWords(text: string): string[] {
  const words: string[] = [];
  // Part of a word: in single quotes, in double quotes (where backslashes count), or bare.
  const part = /'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\.)*)"|(?<bare>(?:[^\s'"\\]|\\.)+)/suy;
  let at = 0;
  while (at < text.length) {
    const blanks = /\s*/y;
    blanks.lastIndex = at;
    at += blanks.exec(text)![0].length;
    if (at >= text.length) break;
    let word = '';
    const from = at;
    while (at < text.length && !/\s/.test(text[at]!)) {
      part.lastIndex = at;
      const found = part.exec(text);
      if (found === null)
        throw new ConfigFault('SPEECH_COMMAND has a quote that is not closed, or ends in a backslash.');
      const { single, double, bare } = found.groups!;
      word += single ?? (double ?? bare!).replaceAll(/\\(.)/gsu, '$1');
      at = part.lastIndex;
    }
    const operator = /^(\d?[<>]|[|&;])/.exec(text.slice(from, at))?.[0];
    if (operator !== undefined) {
      throw new ConfigFault(
        `SPEECH_COMMAND is run without a shell, which ${operator} needs; use a script, or put ${operator} into quotes.`,
      );
    }
    words.push(word);
  }
  return words;
}
