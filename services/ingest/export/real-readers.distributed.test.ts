import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { programsDirectory } from '@call-analysis/testing/servers';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { NO_FILTER } from '../listing/call-filter.ts';
import { CallListing, callOf, NEWEST } from '../test/call-listing.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { exportCalls } from './export-calls.ts';

// The first run installs the programs.
jest.setTimeout(600_000);

const libraries = ['openpyxl==3.1.5', 'pyarrow==26.0.1', 'duckdb==2.0.0'];
const program = fileURLToPath(new URL('./test/read-exports.py', import.meta.url));
const run = promisify(execFile);
const service = new IngestUnderTest();
const listing = new CallListing(service);
const operators = ['=1+1', '+7', 'Өмүрбек 👍', 'line\none', 'a & <b> "c"', 'plain'];

let python: string;
let folder: string;
let firmUuid: string;

beforeAll(async () => {
  python = await install();
  folder = await mkdtemp(join(tmpdir(), 'call-analysis-export-'));
  firmUuid = randomUUID();
  const calls = operators.map((operator, index) => callOf({ operator, score: index === 0 ? null : 71.4 }));
  await listing.add(firmUuid, calls);
  await service.db.query('UPDATE call SET duration = 61.25 WHERE firm_uuid = $1', [firmUuid]);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Creates a virtual environment with the libraries, once for all runs. */
async function install(): Promise<string> {
  const home = join(programsDirectory(), `python-${libraries.join('-').replaceAll('==', '-')}`);
  const [executable, ready] = [join(home, 'bin', 'python'), join(home, 'ready')];
  if (existsSync(ready)) return executable;
  await rm(home, { recursive: true, force: true });
  await mkdir(home, { recursive: true });
  await run('python3', ['-m', 'venv', home]);
  await run(executable, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...libraries]);
  await writeFile(ready, '');
  return executable;
}

async function fileOf(format: 'csv' | 'xlsx' | 'ndjson' | 'parquet'): Promise<Buffer> {
  const actor = { firmUuid, userUuid: randomUUID(), address: '' };
  const none = { questions: [], scorecardUuid: null, hasTranscripts: false, headings: {}, timeZone: 'UTC' };
  const pieces: Buffer[] = [];
  for await (const piece of exportCalls(service.deps, actor, {
    format,
    calls: { filter: NO_FILTER, sort: NEWEST },
    ...none,
  })) {
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function expectedRows(): Promise<Record<string, unknown>[]> {
  const lines = (await fileOf('ndjson')).toString().trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** As the program prints times. */
function withTimes(row: Record<string, unknown>): Record<string, unknown> {
  const times = ['start_time', 'created_at', 'updated_at', 'reviewed_at'];
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      times.includes(name) && typeof value === 'string' ? { time: value.replace('Z', '+00:00') } : value,
    ]),
  );
}

it.each([
  ['openpyxl', 'xlsx', 'xlsx'],
  ['pyarrow', 'parquet', 'parquet'],
  ['duckdb', 'parquet', 'duckdb'],
] as const)('%s reads an export as %s with times, numbers and text as they are', async (_, format, reader) => {
  const file = join(folder, `${reader}.${format}`);
  await writeFile(file, await fileOf(format));
  const { stdout } = await run(python, [program, reader, file], { maxBuffer: 64 * 1024 * 1024 });
  expect(JSON.parse(stdout)).toEqual((await expectedRows()).map(withTimes));
});

it("Python's csv reads an export, whose formulas are text", async () => {
  const file = join(folder, 'calls.csv');
  await writeFile(file, await fileOf('csv'));
  const { stdout } = await run(python, [program, 'csv', file]);
  const rows = JSON.parse(stdout) as Record<string, string>[];
  expect(rows.map((row) => row['operator_name'])).toEqual(
    (await expectedRows()).map(({ operator_name: name }) => String(name).replace(/^(?=[=+])/, "'")),
  );
  expect(Object.keys(rows[0]!)[0]).toBe('uuid');
});
