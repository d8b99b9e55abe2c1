import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { CallFilter, Client, Schemas } from '@call-analysis/client';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { exitCodes } from '../exit-codes.ts';
import { type Session, table } from '../session.ts';

/** Filters of Get Calls as `name=value`, so that none has to be repeated here. */
function filterOption(): Option {
  return new Option('--filter <name=value...>', 'a filter of Get Calls, such as status=failed')
    .default([] as string[])
    .argParser((given: string, before: string[]) => {
      if (!/^[a-z_]+=./s.test(given)) throw new InvalidArgumentError('Write name=value, such as status=failed.');
      return [...before, given];
    });
}

function filterOf(given: readonly string[]): CallFilter {
  const filter: Record<string, string[]> = {};
  for (const each of given) {
    const at = each.indexOf('=');
    (filter[each.slice(0, at)] ??= []).push(each.slice(at + 1));
  }
  return filter as CallFilter;
}

interface ExportOptions {
  readonly format: 'csv' | 'xlsx' | 'ndjson' | 'parquet';
  readonly filter: string[];
  readonly questions?: string;
  readonly transcripts?: boolean;
  readonly output?: string;
}

/** Writes each call as it arrives, so that a list may be of any length. */
async function list(session: Session, limit: number, filter: CallFilter): Promise<void> {
  const client = await session.client();
  const size = Math.min(limit, 100);
  let left = limit;
  let rows: Schemas['ListedCall'][] = [];
  const flush = () => {
    if (rows.length > 0) session.terminal.stdout.write(`${callTable(rows)}\n`);
    rows = [];
  };
  for await (const call of client.calls({ ...filter, size })) {
    if (session.isJson) session.print(call, '');
    else if (rows.push(call) === size) flush();
    if (--left === 0) break;
  }
  flush();
}

function callTable(calls: readonly Schemas['ListedCall'][]): string {
  return table(
    ['uuid', 'status', 'score', 'answered', 'operator', 'start_time', 'partner_call_id'],
    calls.map((call) => [
      call.uuid,
      call.status,
      call.score,
      call.answered === null ? null : `${call.answered} of ${call.questions}`,
      call.operator_name,
      call.start_time,
      call.partner_call_id,
    ]),
  );
}

export function addCallCommands(program: Command, session: Session): void {
  const calls = program.command('calls').description('Find calls, read them, retry, erase and export them.');
  calls
    .command('list')
    .description('List calls, the newest first. With --json, one a line.')
    .addOption(filterOption())
    .option('--limit <number>', 'how many at most', count, 20)
    .addHelpText('after', '\nExample:\n  $ call-analysis calls list --filter status=failed --limit 100')
    .action(({ filter, limit }: { filter: string[]; limit: number }) => list(session, limit, filterOf(filter)));
  calls
    .command('show <uuid>')
    .description('Show a call with its score and what explains it. With --json, everything.')
    .addHelpText('after', '\nExample:\n  $ call-analysis calls show 019a4f3e-7c1a-7d20-9b1e-5f2a61c0d301')
    .action(async (uuid: string) => {
      const client = await session.client();
      const call = await client.send(client.api.GET('/api/v1/calls/{uuid}', { params: { path: { uuid } } }));
      session.print(call, describe(call));
    });
  calls
    .command('retry <uuid...>')
    .description('Queue failed calls again.')
    .addHelpText('after', '\nExample:\n  $ call-analysis calls retry 019a4f3e-7c1a-7d20-9b1e-5f2a61c0d301')
    .action(async (uuids: string[]) => {
      const client = await session.client();
      for (const uuid of uuids) {
        const call = await client.send(client.api.POST('/api/v1/calls/{uuid}/retry', { params: { path: { uuid } } }));
        session.print(call, `${uuid} ${call.status}`);
      }
    });
  calls
    .command('erase <uuid...>')
    .description('Erase calls with all their data. This cannot be undone.')
    .requiredOption('--yes', 'say that you mean it')
    .addHelpText('after', '\nExample:\n  $ call-analysis calls erase 019a4f3e-7c1a-7d20-9b1e-5f2a61c0d301 --yes')
    .action(async (uuids: string[]) => {
      const client = await session.client();
      for (const uuid of uuids) {
        const receipt = await client.send(client.api.DELETE('/api/v1/calls/{uuid}', { params: { path: { uuid } } }));
        session.print(receipt, `${uuid} erased at ${receipt.erased_at}`);
      }
    });
  calls
    .command('export')
    .description('Write all calls that match to a file, or to standard output.')
    .addOption(new Option('--format <format>').choices(['csv', 'xlsx', 'ndjson', 'parquet']).default('csv'))
    .addOption(filterOption())
    .option('--questions <scorecard>', 'uuid of a scorecard: adds a column for each of its questions')
    .option('--transcripts', 'adds the conversations')
    .option('--output <file>', 'default: standard output')
    .addHelpText('after', '\nExample:\n  $ call-analysis calls export --filter status=completed --output calls.csv')
    .action(async (options: ExportOptions) => {
      const client = await session.client();
      const query = {
        ...filterOf(options.filter),
        format: options.format,
        ...(options.questions !== undefined && { questions: options.questions }),
        ...(options.transcripts === true && { transcripts: true }),
      };
      const stream = await client.send(
        client.api.GET('/api/v1/calls/export', { params: { query }, parseAs: 'stream', signal: session.signal }),
      );
      const bytes = Readable.fromWeb(stream as unknown as Parameters<typeof Readable.fromWeb>[0]);
      if (options.output === undefined) return pipeline(bytes, session.terminal.stdout, { end: false });
      // A file that is not complete must not look like one that is.
      const partial = `${options.output}.partial`;
      await pipeline(bytes, createWriteStream(partial));
      await rename(partial, options.output);
    });
  program
    .command('batches')
    .description('What became of uploads.')
    .command('watch <batch_id>')
    .description('Wait until no call of a batch is in progress.')
    .addHelpText('after', '\nExample:\n  $ call-analysis batches watch 019a4f3e-7b00-7aa1-8c11-0d9e4f6a7b02')
    .action(async (batchId: string) => {
      const batch = await watchBatch(await session.client(), session, batchId);
      session.print(batch, batchText(batch));
    });
}

function describe(call: Schemas['CallDetail']): string {
  const { analysis } = call;
  const questions = analysis?.sections.flatMap((section) => section.questions) ?? [];
  const facts = table(
    ['field', 'value'],
    [
      ['uuid', call.uuid],
      ['status', call.status],
      ['score', call.score],
      ['answered', analysis === null ? null : `${analysis.answered} of ${analysis.questions} questions`],
      ['operator', call.operator_name],
      ['started', call.start_time],
      ['duration', call.duration === null ? null : `${Number(call.duration.toFixed(1))} s`],
      ['segment_type', call.segment_type],
      ['failure', call.failure === null ? null : `${call.failure.code}: ${call.failure.message}`],
      ['summary', analysis?.summary],
    ],
  );
  if (questions.length === 0) return facts;
  const answers = questions.map(({ text, answer, points, max_points: most, evidence }) => [
    text,
    answer,
    `${points ?? '-'}/${most}`,
    evidence[0]?.quote,
  ]);
  return `${facts}\n\n${table(['question', 'answer', 'points', 'evidence'], answers)}`;
}

function count(given: string): number {
  const number = Number(given);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('Write a whole number from 1.');
  return number;
}

/** Waits for the batch, with progress. The command ends with 5 when calls failed or rows were refused. */
export async function watchBatch(client: Client, session: Session, batchId: string): Promise<Schemas['Batch']> {
  const batch = await client.waitForBatch(batchId, {
    signal: session.signal,
    onProgress: ({ by_status: counts, accepted }) => {
      const states = Object.entries(counts).filter(([, count]) => count > 0);
      session.progress(`${accepted} calls: ${states.map(([status, count]) => `${count} ${status}`).join(', ')}`);
    },
  });
  session.endProgress();
  if ((batch.by_status.failed ?? 0) > 0 || batch.rejected > 0) session.exitCode = exitCodes.failed;
  return batch;
}

export function batchText({
  batch_id: id,
  accepted,
  duplicates,
  rejected,
  by_status: counts,
}: Schemas['Batch']): string {
  const states = Object.entries(counts).filter(([, count]) => count > 0);
  return [
    `batch ${id}: ${accepted} accepted, ${duplicates} duplicates, ${rejected} refused`,
    ...states.map(([status, count]) => `  ${status} ${count}`),
  ].join('\n');
}
