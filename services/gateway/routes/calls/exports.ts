import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ScorecardDraft, Uuid } from '@call-analysis/events';
import type { analysis, ingest } from '@call-analysis/proto';
import { type Client, LONGEST_CALL_MS } from '@call-analysis/rpc';
import { z } from 'zod';
import type { Caller } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { flag, pathUuid } from '../../http/request/fields.ts';
import type { EdgeResponse } from '../../http/response/edge-response.ts';
import { TranscriptDocument } from '../../response-schemas/exports.ts';
import { actorOf, callerOf } from '../rpc-caller.ts';
import { type Calls, readCall } from './call-json.ts';
import { CallUuids, rangesInOrder, WholeCallQuery } from './calls.ts';
import { transcriptFile } from './transcript-file.ts';

const PATH = '/api/v1/calls';
/** A client that reads nothing for this long is disconnected. */
const IDLE_TIMEOUT_MS = 60_000;

const types = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
} as const;

const Format = z.enum(['csv', 'xlsx', 'ndjson', 'parquet']).default('csv');

const exportedFile = {
  description: 'The file.',
  type: Object.values(types).map((type) => type.replace(/;.*/, '')),
  headers: { 'Content-Disposition': 'The file name.' },
};

const ExportQuery = rangesInOrder(
  WholeCallQuery.extend({
    format: Format,
    questions: Uuid.optional().meta({ description: 'A scorecard: adds a column for each of its questions.' }),
    transcripts: flag().default(false).meta({ description: 'Adds a column with the text of the conversation.' }),
  }),
);

const Selected = z
  .strictObject({
    call_uuids: CallUuids,
    format: Format,
    questions: Uuid.optional().meta({ description: 'A scorecard: adds a column for each of its questions.' }),
    transcripts: z.boolean().default(false).meta({ description: 'Adds a column with the text of the conversation.' }),
  })
  .meta({ examples: [{ call_uuids: ['019a4f3e-7d00-7aa1-8c11-0d9e4f6a7b01'], format: 'csv' }] });

const TranscriptQuery = z.strictObject({ format: z.enum(['txt', 'srt', 'vtt', 'json']).default('json') });

const transcriptTypes = {
  txt: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
} as const;

/** docs/api.md, "Exports". */
export function callExports(
  catalogue: Calls & Pick<Client<typeof ingest>, 'exportCalls' | 'exportSelectedCalls'>,
  scorecards: Pick<Client<typeof analysis>, 'getScorecard'>,
): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: `${PATH}/export`,
      credentials: 'bearer',
      query: ExportQuery,
      docs: {
        tag: 'Calls',
        id: 'exportCalls',
        summary: 'Export calls',
        description:
          'A file with all calls that match, one row a call, with the fields of Get Calls. In CSV, text that a spreadsheet would run as a formula begins with an apostrophe. A call that is erased during the export is left out. If the file cannot be completed, the connection is closed before its end.',
        responses: { 200: exportedFile },
        errors: ['TOO_MANY_ROWS', 'NOT_FOUND'],
      },
      async handle({ caller, query, request, response, address }) {
        const { format, questions, transcripts, ...listing } = query;
        const shape = { format, transcripts, ...(await questionsOf(caller, questions)) };
        const asked = { listing: { caller: actorOf(caller, address), ...listing }, ...shape };
        await sendFile(request, response, format, (options) => catalogue.exportCalls(asked, options));
        return undefined;
      },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/export`,
      credentials: 'bearer',
      body: Selected,
      docs: {
        tag: 'Calls',
        id: 'exportSelectedCalls',
        summary: 'Export chosen calls',
        description:
          'As `GET` on the same path, with the calls that are named, in that order. Those that the firm does not have are left out.',
        responses: { 200: exportedFile },
        errors: ['NOT_FOUND'],
      },
      async handle({ caller, body, request, response, address }) {
        const { format, questions, transcripts, call_uuids } = body;
        const shape = { format, transcripts, ...(await questionsOf(caller, questions)) };
        const asked = { caller: actorOf(caller, address), call_uuids, ...shape };
        await sendFile(request, response, format, (options) => catalogue.exportSelectedCalls(asked, options));
        return undefined;
      },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid/transcript`,
      credentials: 'bearer',
      query: TranscriptQuery,
      docs: {
        tag: 'Calls',
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
      },
      async handle({ caller, params, query: { format }, response }) {
        const call_uuid = pathUuid(params['uuid'], 'call');
        const { transcript_json } = await readCall(catalogue, { caller: callerOf(caller), call_uuid });
        const file = transcriptFile(transcript_json, format);
        if (format === 'json') return { status: 200, body: file as object };
        response.writeHead(200, {
          'content-type': transcriptTypes[format],
          'content-disposition': `attachment; filename="${call_uuid}.${format}"`,
        });
        response.end(file);
        return undefined;
      },
    }),
  ];

  /** The part of a scorecard that an export of its questions needs. */
  async function questionsOf({ firmUuid, userUuid }: Caller, scorecard_uuid: string | undefined) {
    if (scorecard_uuid === undefined) return { questions: [] };
    const caller = { firm_uuid: firmUuid, user_uuid: userUuid };
    const { sections_json } = await scorecards.getScorecard({ caller, scorecard_uuid });
    const sections = JSON.parse(sections_json) as z.infer<typeof ScorecardDraft>['sections'];
    const questions = sections.flatMap((section) =>
      section.questions.map((each) => ({ uuid: each.uuid!, text: each.text })),
    );
    return { scorecard_uuid, questions };
  }
}

/** Streams a file to a client, which ends the request to the catalogue when it goes away. */
async function sendFile(
  request: IncomingMessage,
  response: EdgeResponse,
  format: keyof typeof types,
  open: (options: { deadlineMs: number; signal: AbortSignal }) => AsyncIterable<{ data: Buffer }>,
): Promise<void> {
  const clientGone = new AbortController();
  response.once('close', () => clientGone.abort());
  const file = open({ deadlineMs: LONGEST_CALL_MS, signal: clientGone.signal });
  const pieces = file[Symbol.asyncIterator]();
  // The headers wait for the first piece, which decides between 200 and a fault.
  let next = await pieces.next();
  const day = new Date().toISOString().slice(0, 10);
  response.writeHead(200, {
    'content-type': types[format],
    'content-disposition': `attachment; filename="calls-${day}.${format}"`,
  });
  if (request.method === 'HEAD') {
    response.end();
    await pieces.return?.();
    return;
  }
  response.setTimeout(IDLE_TIMEOUT_MS);
  // Compression, limits and the pipeline each listen for the end of the response: more than Node.js warns of.
  response.setMaxListeners(20);
  const bytes = async function* () {
    for (; !next.done; next = await pieces.next()) yield next.value.data;
  };
  await pipeline(Readable.from(bytes(), { objectMode: false }), response);
}
