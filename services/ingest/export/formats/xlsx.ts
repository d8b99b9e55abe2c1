import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { Column, Format, Row } from '../columns.ts';

/** Rows of a sheet, the header excepted. */
export const MAX_XLSX_ROWS = 1_048_575;
/** Characters of a cell. */
const MAX_CELL = 32_767;

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';

/** The styles of cells, by their positions in `styles.xml`. */
const [BOLD, TIME] = [1, 2];

const parts: Readonly<Record<string, string>> = {
  '[Content_Types].xml': `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>`,
  '_rels/.rels': `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONSHIPS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONSHIPS}"><sheets><sheet name="Calls" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONSHIPS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${RELATIONSHIPS}/styles" Target="styles.xml"/></Relationships>`,
  'xl/styles.xml': `<styleSheet xmlns="${MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs></styleSheet>`,
};

/**
 * A workbook with one sheet, written while it is read: the libraries that are kept build all rows in memory first. Text is
 * text of the cell, never a formula. Times are spreadsheet times, in UTC or as the
 * clocks of the column's zone show them.
 */
export const xlsx: Format = (columns, pages) => {
  const zip = new ZipFile();
  for (const [name, xml] of Object.entries(parts)) zip.addBuffer(Buffer.from(DECLARATION + xml), name);
  const sheet = Readable.from(sheetOf(columns, pages), { objectMode: false });
  // A failure of the pages ends the file's stream, which otherwise would wait for ever.
  sheet.once('error', (error) => (zip.outputStream as Readable).destroy(error));
  zip.addReadStream(sheet, 'xl/worksheets/sheet1.xml', { compressionLevel: 1 } as never);
  zip.end();
  return zip.outputStream as AsyncIterable<Buffer>;
};

async function* sheetOf(columns: readonly Column[], pages: AsyncIterable<readonly Row[]>): AsyncGenerator<Buffer> {
  const letters = columns.map((_, index) => lettersOf(index));
  const head = columns.map(({ name }, index) => textCell(`${letters[index]}1`, name, ` s="${BOLD}"`)).join('');
  yield Buffer.from(
    `${DECLARATION}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData><row r="1">${head}</row>`,
  );
  let number = 1;
  for await (const rows of pages) {
    let xml = '';
    for (const row of rows) {
      number += 1;
      xml += `<row r="${number}">`;
      for (let index = 0; index < columns.length; index += 1) {
        xml += cell(`${letters[index]}${number}`, columns[index]!, row[index] ?? null);
      }
      xml += '</row>';
    }
    yield Buffer.from(xml);
  }
  yield Buffer.from('</sheetData></worksheet>');
}

const EPOCH_MS = Date.UTC(1899, 11, 30);
const DAY_MS = 86_400_000;

function cell(address: string, { kind }: Column, value: string | null): string {
  if (value === null) return '';
  if (kind === 'number' || kind === 'integer') return `<c r="${address}"><v>${value}</v></c>`;
  if (kind === 'time' || kind === 'local-time') {
    const wall = kind === 'time' ? value : `${value.replace(' ', 'T')}Z`;
    return `<c r="${address}" s="${TIME}"><v>${(Date.parse(wall) - EPOCH_MS) / DAY_MS}</v></c>`;
  }
  return textCell(address, value, '');
}

function textCell(address: string, text: string, style: string): string {
  return `<c r="${address}" t="inlineStr"${style}><is><t xml:space="preserve">${escaped(text)}</t></is></c>`;
}

/** `A` to `Z`, then `AA` and so on. */
function lettersOf(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : lettersOf(Math.floor(index / 26) - 1) + last;
}

const SPECIAL = /[&<>\p{Cc}\ufffe\uffff]/u;
const EVERY_SPECIAL = new RegExp(SPECIAL, 'gu');
/** The control characters that XML has a place for. */
const ALLOWED = /[\t\n\r\u007f-\u009f]/;
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** XML has no place for most control characters, and a cell none for long text. */
function escaped(text: string): string {
  const short = text.length <= MAX_CELL ? text : `${text.slice(0, MAX_CELL - 1)}…`;
  // A carriage return would be read as a line feed, and `_x000D_` as a carriage return.
  const plain = short
    .toWellFormed()
    .replaceAll('\r\n', '\n')
    .replaceAll(/_x([0-9A-Fa-f]{4})_/g, '_x005F_x$1_');
  if (!SPECIAL.test(plain)) return plain;
  return plain.replaceAll(
    EVERY_SPECIAL,
    (character) => entities[character] ?? (ALLOWED.test(character) ? character : '\ufffd'),
  );
}
