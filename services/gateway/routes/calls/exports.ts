import { type ExportFormat, ExportQuery, SelectedExport } from '@call-analysis/api/call-query';
import { TranscriptDocument } from '@call-analysis/api/calls';
import { z } from 'zod';
import { AND_REVIEWERS, EVERY_ROLE } from '../../authentication/caller.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import type { Response } from '../../http/response/response.ts';
import { sendStream } from '../../http/response/send.ts';
import { callerOf, type PassedInput, requestOf, servedBy, type Services } from '../rpc-caller.ts';
import { readCall } from './call-json.ts';
import { transcriptFile } from './transcript-file.ts';

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
