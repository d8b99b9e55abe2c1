import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createLog, runProcess, StartFault } from '@call-analysis/runtime';
import { dialAdministration } from './administration.ts';
import { readSettings } from './config.ts';
import { report } from './demo-report.ts';
import type { DemoCall } from './demo-report.ts';
import type { Settings, Standalone } from './start.ts';
import { start } from './start.ts';

const help = `Usage: npm run demo -- [--exit]

Starts the service on a free port with a data directory that is thrown away, uploads the sample transcripts
as a client would, and shows how each call was scored and why. It then stays up for a look around.

  --exit   stop when the table has been shown`;

const samples = fileURLToPath(new URL('../../samples/transcripts.csv', import.meta.url));
const segmentTypes = ['support', 'sales', 'billing', 'delivery'];

const options = process.argv.slice(2);
if (options.includes('--help') || options.includes('-h')) {
  console.log(help);
  process.exit(0);
}
const unknown = options.find((option) => option !== '--exit');
if (unknown !== undefined) {
  console.error(`There is no option ${unknown}.\n\n${help}`);
  process.exit(2);
}

const log = createLog({ name: 'demo', level: 'warn' });

await runProcess({
  log,
  start: async (signal) => {
    const directory = await mkdtemp(join(tmpdir(), 'call-analysis-demo-'));
    const throwAway = () => rm(directory, { recursive: true, force: true });
    try {
      console.log('Starting the service with a database of its own…');
      // Nothing from the environment: the demo must not touch a database or use keys that are meant for the real service.
      const settings = readSettings({ PORT: '0', DATA_DIR: directory });
      const running = await start(settings, { log, signal });
      const close = async () => {
        await running.close();
        await throwAway();
      };
      try {
        await show(running, settings, signal);
      } catch (error) {
        await close();
        throw error;
      }
      if (options.includes('--exit') && !signal.aborted) setImmediate(() => process.kill(process.pid, 'SIGTERM'));
      return { close };
    } catch (error) {
      await throwAway();
      throw error;
    }
  },
});

async function show(running: Standalone, settings: Settings, signal: AbortSignal): Promise<void> {
  const admin = dialAdministration(running.keyManagement, settings, running.directory.secrets.jwtSecret);
  const firm = await admin.createFirm({ name: 'Demo', country: 'UZ', segmentTypes });
  const user = await admin.createUser({ firm: firm.uuid, name: 'Demo', role: 'ADMIN' });
  const { token } = await admin.issueToken(user.uuid, 12 * 3600 * 1000);
  admin.close();

  const api = client(running.url, token, signal);
  const opened = await api('POST', '/api/v1/calls/upload', { metadata_filename: 'transcripts.csv' });
  const put = await fetch(opened.data.metadata_upload_url, {
    method: 'PUT',
    headers: { 'content-type': 'text/csv' },
    body: await readFile(samples),
    signal,
  });
  if (!put.ok) throw new StartFault(`The sample transcripts could not be uploaded: ${await put.text()}`);
  const { data } = await api('POST', '/api/v1/calls/process-upload', { metadata_key: opened.data.metadata_key });
  console.log(data.message);

  for (;;) {
    const batch = await api('GET', `/api/v1/calls/batches/${data.batch_id}`);
    const done = (batch.by_status.completed ?? 0) + (batch.by_status.failed ?? 0);
    progress(done, batch.accepted);
    if (batch.finished_at !== null) break;
    await pause(100, undefined, { signal });
  }
  const calls: DemoCall[] = [];
  for (let page = 1; calls.length < data.accepted; page++) {
    const { items } = await api('GET', `/api/v1/calls?batch=${data.batch_id}&page=${page}&size=100`);
    if (items.length === 0) break;
    for (const item of items) calls.push(await api('GET', `/api/v1/calls/${item.uuid}`));
  }
  console.log(report(calls));
  console.log(`The service is at ${running.url}
A bearer token of the demo firm, for twelve hours:

  TOKEN='${token}'
  curl -H "Authorization: Bearer $TOKEN" '${running.url}/api/v1/calls?size=3'
`);
  if (!options.includes('--exit')) console.log('Ctrl-C stops it and removes its data.');
}

function client(base: string, token: string, signal: AbortSignal) {
  return async (method: string, path: string, body?: object) => {
    const response = await fetch(base + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
    });
    const answer = (await response.json()) as Answer & { message?: string };
    if (!response.ok) throw new StartFault(`${method} ${path} was answered with ${response.status}: ${answer.message}`);
    return answer as Answer;
  };
}

/** What the demo reads of the answers; each answer has some of it. */
interface Answer extends DemoCall {
  data: { metadata_upload_url: string; metadata_key: string; message: string; batch_id: string; accepted: number };
  by_status: Record<string, number>;
  accepted: number;
  finished_at: string | null;
  items: { uuid: string }[];
}

function progress(done: number, all: number): void {
  const width = 40;
  const filled = all === 0 ? width : Math.round((done / all) * width);
  const line = `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${done} of ${all} calls scored`;
  if (process.stdout.isTTY) process.stdout.write(`\r${line}${done === all ? '\n' : ''}`);
  else if (done === all) console.log(line);
}
