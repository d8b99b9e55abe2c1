import { quoted } from '../../intake/rejected/copied-rows.ts';
import type { Column, Format, Row } from '../columns.ts';

const BYTE_ORDER_MARK = '\ufeff';
const LINE_END = '\r\n';
/** How a spreadsheet recognizes a formula. Full-width characters count as their ASCII forms in some. */
const BEGINS_FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;

/**
 * CSV for spreadsheets: UTF-8 with a byte order mark, and an apostrophe before text that would run as a formula.
 * Numbers and times are written as they are. `@fast-csv/format` has neither and takes three times as long.
 */
export const csv: Format = async function* (columns, pages) {
  const isText = columns.map(({ kind }) => kind === 'text' || kind === 'json');
  yield Buffer.from(BYTE_ORDER_MARK + header(columns));
  for await (const rows of pages) {
    let text = '';
    for (const row of rows) text += line(row, isText);
    yield Buffer.from(text);
  }
};

function header(columns: readonly Column[]): string {
  return columns.map(({ name }) => quoted(guarded(name))).join(',') + LINE_END;
}

function line(row: Row, isText: readonly boolean[]): string {
  let text = '';
  for (let index = 0; index < isText.length; index += 1) {
    const value = row[index];
    if (index > 0) text += ',';
    if (value === null || value === undefined) continue;
    text += isText[index] ? quoted(guarded(value)) : value;
  }
  return text + LINE_END;
}

function guarded(text: string): string {
  return BEGINS_FORMULA.test(text) ? `'${text}` : text;
}

/** One JSON object a line. */
export const ndjson: Format = async function* (columns, pages) {
  const names = columns.map(({ name }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  const isText = columns.map(({ kind }) => kind === 'text' || kind === 'time' || kind === 'local-time');
  for await (const rows of pages) {
    let text = '';
    for (const row of rows) {
      for (let index = 0; index < names.length; index += 1) {
        const value = row[index] ?? null;
        text += names[index]! + (value === null ? 'null' : isText[index] ? JSON.stringify(value) : value);
      }
      text += '}\n';
    }
    yield Buffer.from(text);
  }
};
