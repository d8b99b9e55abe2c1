import { type ExportFormat, ExportQuery, SelectedExport } from '@call-analysis/api/call-query';
import { TranscriptDocument } from '@call-analysis/api/calls';
import { Fault, notFound } from '@call-analysis/fault';
import { z } from 'zod';
import { AND_REVIEWERS, EVERY_ROLE } from '../../authentication/caller.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { type Response, sendStream } from '../../http/response/send.ts';
import { callerOf, type PassedInput, requestOf, servedBy, type Services } from '../rpc-caller.ts';
import { readCall, type StoredCall } from './call-json.ts';

const PATH = '/api/v1/calls';

const types: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
};

const exportedFile = {
  description: 'The file.',
  type: Object.values(types).map((type) => type.replace(/;.*/, '')),
  headers: { 'Content-Disposition': 'The file name.' },
};

const TranscriptQuery = z.strictObject({ format: z.enum(['txt', 'srt', 'vtt', 'json']).default('json') });

const transcriptTypes = {
  txt: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
} as const;

/** docs/api.md, "Exports". */
export function callExports({ ingest }: Services): Endpoint[] {
  const sendFile = async (input: PassedInput & { readonly response: Response }, format: ExportFormat) => {
    await sendStream(input.response, fileHeaders(format), (options) => ingest.exportCalls(requestOf(input), options));
    return undefined;
  };
  const endpoint = servedBy(ingest, { tag: 'Calls', roles: AND_REVIEWERS });
  return [
    endpoint({
      method: 'GET',
      path: `${PATH}/export`,
      query: ExportQuery,
      id: 'exportCalls',
      summary: 'Export calls',
      description:
        'A file with all calls that match, one row a call, with the fields of Get Calls. In CSV, text that a spreadsheet would run as a formula begins with an apostrophe. A call that is erased during the export is left out. If the file cannot be completed, the connection is closed before its end.',
      responses: { 200: exportedFile },
      errors: ['TOO_MANY_ROWS', 'NOT_FOUND'],
      handle: (input) => sendFile(input, input.query.format),
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/export`,
      body: SelectedExport,
      id: 'exportSelectedCalls',
      summary: 'Export chosen calls',
      description:
        'As `GET` on the same path, with the calls that are named, in that order. Those that the firm does not have are left out.',
      responses: { 200: exportedFile },
      errors: ['NOT_FOUND'],
      handle: (input) => sendFile(input, input.body.format),
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid/transcript`,
      roles: EVERY_ROLE,
      query: TranscriptQuery,
      id: 'getTranscript',
      summary: 'Get the transcript of a call',
      description:
        'As text with one line for each utterance, as subtitles (SRT or WebVTT), or as JSON. Subtitles need the times of a recording.',
      responses: {
        200: {
          description: 'The transcript.',
          schema: TranscriptDocument,
          type: Object.values(transcriptTypes).map((type) => type.replace(/;.*/, '')),
          headers: { 'Content-Disposition': 'The file name.' },
        },
      },
      errors: ['NO_TIMES'],
      async handle({ caller, params, query: { format } }) {
        const call_uuid = params.uuid;
        const { call } = await readCall(ingest, { caller: callerOf(caller), call_uuid });
        const file = transcriptFile(call?.transcript ?? null, format);
        if (format === 'json') return { status: 200, body: file as object };
        const headers = {
          'content-type': transcriptTypes[format],
          'content-disposition': `attachment; filename="${call_uuid}.${format}"`,
        };
        return { status: 200, headers, body: Buffer.from(file as string) };
      },
    }),
  ];
}

function fileHeaders(format: keyof typeof types) {
  const day = new Date().toISOString().slice(0, 10);
  return { 'content-type': types[format], 'content-disposition': `attachment; filename="calls-${day}.${format}"` };
}

type Utterance = NonNullable<StoredCall['transcript']>['utterances'][number];

/** The transcript of a call as a file, or for `json` as an object. Faults: NOT_FOUND without one, NO_TIMES. */
function transcriptFile(transcript: StoredCall['transcript'], format: 'txt' | 'srt' | 'vtt' | 'json'): string | object {
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

function cueOf({ role, text, start, end }: Utterance) {
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
