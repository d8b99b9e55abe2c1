import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

const dialogue =
  '<operator>Good afternoon, Northern Telecom, my name is Ann. How can I help you?<client>Hello, my internet has been ' +
  'slow since Monday, I am quite unhappy with it.<operator>I am sorry to hear that. Let me check the line. I can see a ' +
  'fault in your street, our engineer will repair it tomorrow before noon.<client>All right, thank you.<operator>Is ' +
  'there anything else I can help you with? Have a nice day, goodbye.';

export const header =
  'client_phone_number,operator_name,duration,anonymized_text,start_time,segment_type,partner_call_id,direction\n';

/**
 * A row of about 450 bytes, or with a conversation `length` times as long. Ids are numbered, as in exports of partners.
 */
function row(number: number, prefix: string, length = 1): string {
  const second = String(number % 60).padStart(2, '0');
  return `+99890${String(1_000_000 + (number % 9_000_000))},Ann,${60 + (number % 600)},"${dialogue.repeat(length)}",2026-10-01T09:00:${second},support,${prefix}-${number},inbound\n`;
}

/** Writes a CSV of `rows` rows, in constant memory. */
export async function writeRows(path: string, rows: number, prefix: string, length = 1): Promise<void> {
  const file = createWriteStream(path, { highWaterMark: 4 * 1024 * 1024 });
  file.write(header);
  let text = '';
  for (let number = 0; number < rows; number++) {
    text += row(number, prefix, length);
    if (text.length < 1024 * 1024) continue;
    if (!file.write(text)) await once(file, 'drain');
    text = '';
  }
  file.end(text);
  await finished(file);
}
