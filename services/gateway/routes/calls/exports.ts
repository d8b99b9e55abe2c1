import { CallUuids, rangesInOrder, WholeCallQuery } from '@call-analysis/api/call-query';
import { ExportFormat, TranscriptDocument } from '@call-analysis/api/calls';
import { flag, timeZone } from '@call-analysis/api/fields';
import { type ScorecardDraft, Uuid } from '@call-analysis/events';
import type { analysis, ingest } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { AND_REVIEWERS, type Caller, EVERY_ROLE } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { sendStream } from '../../http/response/send.ts';
import { actorOf, callerOf } from '../rpc-caller.ts';
import { type Calls, readCall } from './call-json.ts';
import { filterFor } from './calls.ts';
import { transcriptFile } from './transcript-file.ts';

const PATH = '/api/v1/calls';
const MAX_HEADINGS = 100;

const types: Record<z.infer<typeof ExportFormat>, string> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
};

const Format = ExportFormat.default('csv');

const tz = timeZone().optional().meta({
  description:
    'Times are written in UTC, and again in this time zone, which the columns name. Default: that of the firm. UTC: no such columns.',
});

const exportedFile = {
  description: 'The file.',
  type: Object.values(types).map((type) => type.replace(/;.*/, '')),
  headers: { 'Content-Disposition': 'The file name.' },
};

const Headings = z
  .record(z.string().max(64), z.string().trim().min(1).max(255))
  .refine((headings) => Object.keys(headings).length <= MAX_HEADINGS, `must have at most ${MAX_HEADINGS} names`);

/** The same as JSON text, for a query. */
const HeadingsText = z
  .string()
  .max(16_384)
  .transform((text, context) => {
    try {
      const parsed = Headings.safeParse(JSON.parse(text));
      if (parsed.success) return parsed.data;
    } catch {
      // The same fault as that of another shape.
    }
    context.addIssue({ code: 'custom', message: 'must be a JSON object of texts' });
    return z.NEVER;
  });
const HEADINGS = 'Names for columns in place of the fields’ names: `{"start_time":"Начало"}`.';

const ExportQuery = rangesInOrder(
  WholeCallQuery.extend({
    format: Format,
    questions: Uuid.optional().meta({ description: 'A scorecard: adds a column for each of its questions.' }),
    transcripts: flag().default(false).meta({ description: 'Adds a column with the text of the conversation.' }),
    tz,
    headings: HeadingsText.optional().meta({ documentedAs: { type: 'string' }, description: `As JSON. ${HEADINGS}` }),
  }),
);

const Selected = z
  .strictObject({
    call_uuids: CallUuids,
    format: Format,
    questions: Uuid.optional().meta({ description: 'A scorecard: adds a column for each of its questions.' }),
    transcripts: z.boolean().default(false).meta({ description: 'Adds a column with the text of the conversation.' }),
    tz,
    headings: Headings.optional().meta({ description: HEADINGS }),
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
      roles: AND_REVIEWERS,
      query: ExportQuery,
      tag: 'Calls',
      id: 'exportCalls',
      summary: 'Export calls',
      description:
        'A file with all calls that match, one row a call, with the fields of Get Calls. In CSV, text that a spreadsheet would run as a formula begins with an apostrophe. A call that is erased during the export is left out. If the file cannot be completed, the connection is closed before its end.',
      responses: { 200: exportedFile },
      errors: ['TOO_MANY_ROWS', 'NOT_FOUND'],
      async handle({ caller, query, response, address }) {
        const { format, questions, transcripts, headings = {}, tz: zone, ...listing } = query;
        const shape = {
          format,
          transcripts,
          headings,
          ...(zone !== undefined && { tz: zone }),
          ...(await questionsOf(caller, questions)),
        };
        const asked = { listing: { caller: actorOf(caller, address), ...filterFor(caller, listing) }, ...shape };
        await sendStream(response, fileHeaders(format), (options) => catalogue.exportCalls(asked, options));
        return undefined;
      },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/export`,
      roles: AND_REVIEWERS,
      body: Selected,
      tag: 'Calls',
      id: 'exportSelectedCalls',
      summary: 'Export chosen calls',
      description:
        'As `GET` on the same path, with the calls that are named, in that order. Those that the firm does not have are left out.',
      responses: { 200: exportedFile },
      errors: ['NOT_FOUND'],
      async handle({ caller, body, response, address }) {
        const { format, questions, transcripts, headings = {}, call_uuids, tz: zone } = body;
        const shape = {
          format,
          transcripts,
          headings,
          ...(zone !== undefined && { tz: zone }),
          ...(await questionsOf(caller, questions)),
        };
        const asked = { caller: actorOf(caller, address), call_uuids, ...shape };
        await sendStream(response, fileHeaders(format), (options) => catalogue.exportSelectedCalls(asked, options));
        return undefined;
      },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid/transcript`,
      roles: EVERY_ROLE,
      query: TranscriptQuery,
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
      async handle({ caller, params, query: { format } }) {
        const call_uuid = params.uuid;
        const { call } = await readCall(catalogue, { caller: callerOf(caller), call_uuid });
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

function fileHeaders(format: keyof typeof types) {
  const day = new Date().toISOString().slice(0, 10);
  return { 'content-type': types[format], 'content-disposition': `attachment; filename="calls-${day}.${format}"` };
}
