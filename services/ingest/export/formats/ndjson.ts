import type { Format } from '../columns.ts';

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
