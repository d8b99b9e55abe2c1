import { Fault, notFound } from '@call-analysis/fault';
import type { StoredCall } from './call-json.ts';

interface Utterance {
  readonly role: string;
  readonly text: string;
  /** Seconds; null in uploaded transcripts. */
  readonly start: number | null;
  readonly end: number | null;
}

/** The transcript of a call as a file, or for `json` as an object. Faults: NOT_FOUND without one, NO_TIMES. */
export function transcriptFile(
  transcript: StoredCall['transcript'],
  format: 'txt' | 'srt' | 'vtt' | 'json',
): string | object {
  if (transcript === null) throw notFound('transcript of this call');
  const { utterances } = transcript;
  if (format === 'txt') return utterances.map(({ role, text }) => `${speaker(role)}: ${text}\n`).join('');
  if (format === 'json') return transcript;
  const cues = utterances.map(cueOf);
  if (format === 'srt') {
    const blocks = cues.map(({ role, text, start, end }, index) => {
      const times = `${clock(start, ',')} --> ${clock(end, ',')}`;
      return `${index + 1}\n${times}\n${speaker(role)}: ${oneBlock(text)}\n`;
    });
    return blocks.join('\n');
  }
  const blocks = cues.map(({ role, text, start, end }) => {
    const times = `${clock(start, '.')} --> ${clock(end, '.')}`;
    return `\n${times}\n<v ${speaker(role)}>${escaped(oneBlock(text))}</v>\n`;
  });
  return `WEBVTT\n${blocks.join('')}`;
}

function cueOf({ role, text, start, end }: Utterance): { role: string; text: string; start: number; end: number } {
  if (start !== null && end !== null) return { role, text, start, end: Math.max(end, start) };
  const message = 'This transcript has no times, because it was uploaded as text. Use the format txt or json.';
  throw new Fault('conflict', 'NO_TIMES', message);
}

function speaker(role: string): string {
  return role === 'operator' ? 'Operator' : 'Client';
}

/** `01:02:03,456`. */
function clock(seconds: number, separator: string): string {
  const ms = Math.round(seconds * 1000);
  const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');
  const [hours, minutes, rest] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, ms % 60_000];
  return `${pad(hours)}:${pad(minutes)}:${pad(Math.floor(rest / 1000))}${separator}${pad(rest % 1000, 3)}`;
}

/** An empty line would end the block, and an arrow would be read as times. */
function oneBlock(text: string): string {
  return text
    .replaceAll(/\s*[\r\n]+\s*/g, ' ')
    .replaceAll('-->', '→')
    .trim();
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
