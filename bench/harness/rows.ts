import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

const dialogue =
  '<operator>Good afternoon, Northern Telecom, my name is Ann. How can I help you?<client>Hello, my internet has been ' +
  'slow since Monday, I am quite unhappy with it.<operator>I am sorry to hear that. Let me check the line. I can see a ' +
  'fault in your street, our engineer will repair it tomorrow before noon.<client>All right, thank you.<operator>Is ' +
  'there anything else I can help you with? Have a nice day, goodbye.';

const header =
  'client_phone_number,operator_name,duration,anonymized_text,start_time,segment_type,partner_call_id,direction\n';

/** Writes a CSV in constant memory. Rows are joined, because each write costs a turn of the event loop. */
export function writeCsv(path: string, rows: Iterable<string>): Promise<void> {
  return pipeline(joined(rows), createWriteStream(path));
}

function* joined(rows: Iterable<string>): Generator<string> {
  let text = header;
  for (const row of rows) {
    text += row;
    if (text.length < 1024 * 1024) continue;
    yield text;
    text = '';
  }
  yield text;
}

/** Rows of about 450 bytes. Ids are numbered, as in exports of partners. */
export function* rowsOf(rows: number, prefix: string): Generator<string> {
  for (let number = 0; number < rows; number++) {
    const second = String(number % 60).padStart(2, '0');
    yield `+99890${String(1_000_000 + (number % 9_000_000))},Ann,${60 + (number % 600)},"${dialogue}",2026-10-01T09:00:${second},support,${prefix}-${number},inbound\n`;
  }
}
