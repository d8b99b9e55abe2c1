import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, type Schemas } from '@call-analysis/client';
import { createLog, runProcess, StartFault } from '@call-analysis/runtime';
import { dialAdministration } from '../admin/administration.ts';
import { readSettings } from '../config.ts';
import { sampleSegmentTypes } from '../start-hint.ts';
import { type Settings, type Standalone, start } from '../start.ts';
import { conversation, report } from './report.ts';
import { batchOfRecordings, recordings, transcripts } from './upload-samples.ts';

const help = `Usage: npm run demo -- [--exit]

Starts the service on a free port with a temporary data directory, and uploads the samples as a client would:
transcripts as a CSV, recordings one by one, and recordings as a CSV with a ZIP. Prints the score of each call with its
reasons, and a transcript. The service then keeps running until it is stopped.

A language model that LLM_URL and LLM_MODEL name (docs/language-models.md) answers every question. Without one, words decide
what they can, and the other questions stay open.

  --exit   stop after the results are printed`;

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

/** Ollama's, as in docs/language-models.md. */
const CONNECT_MODEL = `Words alone decided this. A language model answers the open questions too; for one that Ollama serves:

  export LLM_URL=http://127.0.0.1:11434/v1
  export LLM_MODEL=qwen3:8b
`;

/** On a busy machine a part may not answer for a while: these take a minute or two. */
const RETRIES = 8;

const log = createLog({ name: 'demo', level: 'warn' });

await runProcess({
  log,
  start: async (signal) => {
    const directory = await mkdtemp(join(tmpdir(), 'call-analysis-demo-'));
    const removeData = () => rm(directory, { recursive: true, force: true });
    try {
      console.log('Starting the service with its own database…');
      // Of the environment only the language model counts: the demo must not use the database or the keys of the real service.
      const model = Object.entries(process.env).filter(([name]) => name.startsWith('LLM_'));
      const settings = readSettings({ ...Object.fromEntries(model), PORT: '0', DATA_DIR: directory });
      const running = await start(settings, { log, signal });
      const close = async () => {
        await running.close();
        await removeData();
      };
      try {
        await show(running, settings, signal);
      } catch (error) {
        await close();
        throw signal.aborted ? error : new StartFault(`The demo failed. ${sentenceOf(error)}`);
      }
      if (options.includes('--exit') && !signal.aborted) setImmediate(() => process.kill(process.pid, 'SIGTERM'));
      return { close };
    } catch (error) {
      await removeData();
      throw error;
    }
  },
});

async function show(running: Standalone, settings: Settings, signal: AbortSignal): Promise<void> {
  const admin = dialAdministration(running.keyManagement, settings, running.directory.secrets.jwtSecret);
  const firm = await admin.createFirm({ name: 'Demo', country: 'UZ', segmentTypes: sampleSegmentTypes });
  const user = await admin.createUser({ firm: firm.uuid, name: 'Demo', role: 'ADMIN' });
  const { token } = await admin.issueToken(user.uuid, 12 * 3600 * 1000);
  const client = new Client({ url: running.url, token, retries: RETRIES });

  const texts = await client.upload({ csv: { name: 'calls.csv', data: new Blob([await transcripts()]) }, signal });
  console.log(texts.message);
  await finished(client, texts.accepted, signal);
  console.log(report(await calls(client, 'transcription', signal)));
  // An empty variable is none.
  if ((process.env['LLM_URL'] ?? '') === '') console.log(CONNECT_MODEL);

  const [single, batched] = await recordings();
  for (const { fileName, bytes, metadata } of single) {
    const { message } = await client.uploadRecording({ name: fileName, data: bytes }, metadata, { signal });
    console.log(`${fileName}: ${message}`);
  }
  const batch = await client.upload({ ...(await batchOfRecordings(batched)), signal });
  console.log(batch.message);
  await finished(client, texts.accepted + single.length + batched.length, signal);
  const transcribed = await calls(client, 'audio', signal);
  console.log(report(transcribed));
  console.log(conversation(transcribed.find((call) => call.partner_call_id === single[0]!.metadata.partner_call_id)!));

  // Made last, because it is good for ten minutes.
  const signIn = await admin.signInLink(user.uuid, running.url);
  admin.close();
  console.log(`The service is at ${running.url}
A bearer token of the demo firm, valid for twelve hours:

  TOKEN='${token}'
  curl -H "Authorization: Bearer $TOKEN" '${running.url}/api/v1/calls?size=3'
`);
  if (options.includes('--exit')) return;
  if (signIn !== null)
    console.log(`The calls in your browser, signed in (once, within 10 minutes):\n\n  ${signIn.link}\n`);
  console.log('Ctrl-C stops it and removes its data.');
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Waits until `calls` calls have completed or failed, and prints the progress. */
async function finished(client: Client, calls: number, signal: AbortSignal): Promise<void> {
  const query = { status: ['completed' as const, 'failed' as const], size: 1 };
  for (;;) {
    const { count } = await client.send(client.api.GET('/api/v1/calls', { params: { query }, signal }));
    progress(count, calls);
    if (count >= calls) return;
    await pause(100, undefined, { signal });
  }
}

async function calls(
  client: Client,
  source: 'audio' | 'transcription',
  signal: AbortSignal,
): Promise<Schemas['CallDetail'][]> {
  const found: Schemas['CallDetail'][] = [];
  for await (const { uuid } of client.calls({ source })) {
    const params = { path: { uuid } };
    found.push(await client.send(client.api.GET('/api/v1/calls/{uuid}', { params, signal })));
  }
  return found;
}

function progress(done: number, all: number): void {
  const width = 40;
  const filled = all === 0 ? width : Math.round((done / all) * width);
  const line = `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${done} of ${all} calls scored`;
  if (process.stdout.isTTY) process.stdout.write(`\r${line}${done === all ? '\n' : ''}`);
  else if (done === all) console.log(line);
}
