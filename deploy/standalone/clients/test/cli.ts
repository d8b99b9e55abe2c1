import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { run } from '@call-analysis/cli';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { newFirm } from '../../test/client/new-firm.ts';
import { silence } from '../../test/client/silence.ts';
import { csvOf, metadataOf, recordingsCsvOf } from '../../test/client/valid-uploads.ts';
import type { RunningService } from '../../test/system/service-process.ts';

const program = fileURLToPath(new URL('../../../../packages/cli/main.ts', import.meta.url));

export function describeCli(running: () => RunningService): void {
  let service: RunningService;
  let folder: string;
  let token: string;
  beforeAll(async () => {
    service = running();
    folder = await mkdtemp(join(tmpdir(), 'cli-'));
    ({ token } = await newFirm(service, { role: 'ADMIN' }));
    expect(await cli(['login', '--url', service.url], { input: `${token}\n` })).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  async function cli(words: string[], { input = '', env = {} }: { input?: string; env?: Record<string, string> } = {}) {
    const said = { out: '', err: '' };
    const sink = (name: 'out' | 'err') =>
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          said[name] += chunk.toString();
          done();
        },
      });
    const code = await run(words, {
      env: { CALL_ANALYSIS_CONFIG: join(folder, 'profiles.json'), ...env },
      stdin: Readable.from([input]),
      stdout: sink('out'),
      stderr: sink('err'),
    });
    return { code, ...said };
  }

  async function file(name: string, content: string | Uint8Array): Promise<string> {
    await writeFile(join(folder, name), content);
    return join(folder, name);
  }

  it('the file of profiles is readable by its user alone', async () => {
    expect((await stat(join(folder, 'profiles.json'))).mode & 0o777).toBe(0o600);
  });

  it('without a token the exit code is 1, and so it is with one that is refused', async () => {
    const none = await cli(['calls', 'list', '--profile', 'other']);
    expect(none).toMatchObject({ code: 1, out: '' });
    expect(none.err).toContain('call-analysis login');
    expect(await cli(['calls', 'list'], { env: { CALL_ANALYSIS_TOKEN: 'forged' } })).toMatchObject({ code: 1 });
  });

  it.each([
    ['nothing'],
    ['upload'],
    ['calls', 'list', '--limit', '0'],
    ['webhooks', 'listen', '--port', 'http'],
    ['upload', '/no/such/file.csv'],
    ['scorecards', 'take-default', '--try', '11'],
  ])('a mistake in usage ends with 2: %s %s', async (...words) => {
    expect(await cli(words.filter((word) => typeof word === 'string'))).toMatchObject({ code: 2, out: '' });
  });

  it('a CSV is uploaded, watched and listed, without progress where there is no terminal', async () => {
    const csv = await file('calls.csv', csvOf([{ partner_call_id: 'cli-1' }, { partner_call_id: 'cli-2' }]));
    const uploaded = await cli(['upload', csv, '--watch', '--json']);
    expect(uploaded).toMatchObject({ code: 0, err: '' });
    const { batch_id } = JSON.parse(uploaded.out) as { batch_id: string };
    const listed = await cli(['calls', 'list', '--json', '--filter', `batch=${batch_id}`, '--limit', '1']);
    expect(listed.out.trim().split('\n')).toHaveLength(1);
    const { uuid } = JSON.parse(listed.out) as { uuid: string };
    const shown = await cli(['calls', 'show', uuid]);
    expect(shown).toMatchObject({ code: 0, err: '' });
    expect(shown.out).toMatch(/^duration +\d+(\.\d)? s$/m);
    expect(shown.out).toMatch(/^answered +3 of 15 questions$/m);
    const tried = await cli(['scorecards', 'take-default', '--try', '1']);
    expect(tried).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(new RegExp(`^${uuid} .* 3 of 15$`, 'm')),
    });
    expect((await cli(['scorecards', 'take-default'])).out).toMatch(/ has the questions of this release already\.$/m);
    expect(await cli(['review', uuid])).toMatchObject({ code: 2, out: '' });
    expect((await cli(['calls', 'show', uuid, '--json'])).out).toMatch(/"reviewed_at":null/);
    expect(await cli(['review', uuid, '--done'])).toMatchObject({ code: 0 });
    expect(await cli(['calls', 'erase', uuid, '--yes'])).toMatchObject({ code: 0 });
    expect(await cli(['calls', 'show', uuid])).toMatchObject({ code: 1, out: '' });
  });

  it('a file that does not exist is named in a sentence', async () => {
    const missing = join(folder, 'missing.csv');
    expect(await cli(['upload', missing])).toEqual({ code: 2, out: '', err: `There is no file ${missing}.\n` });
  });

  it('API keys are listed with the names of their firms', async () => {
    const root = await newFirm(service, { role: 'SUPERUSER' });
    const env = { CALL_ANALYSIS_URL: service.url, CALL_ANALYSIS_TOKEN: root.token };
    expect(await cli(['keys', 'create', root.firmUuid], { env })).toMatchObject({ code: 0 });
    const { code, out } = await cli(['keys', 'list'], { env });
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`  ${root.firmUuid}  `));
    expect(out).not.toContain('{');
  });

  it('rows that are refused are printed one a line, and the exit code is 1', async () => {
    const csv = await file('bad.csv', csvOf([{ client_phone_number: 'x' }, { start_time: 'never' }]));
    const { code, err } = await cli(['upload', csv]);
    expect(code).toBe(1);
    expect(err).toMatch(/row 2, client_phone_number: .*\n.*row 3, start_time: /);
  });

  it('an interrupted upload of a folder of recordings continues where it stopped, and creates each call once', async () => {
    const wav = silence(1);
    for (const name of ['a.wav', 'b.wav']) await file(name, wav);
    const rows = ['a', 'b'].map((name) => metadataOf(`${name}.wav`, { partner_call_id: `folder-${name}` }));
    const csv = await file('metadata.csv', recordingsCsvOf(rows));
    const first = await cli(['upload', join(folder, 'a.wav'), '--metadata', csv]);
    expect(first).toMatchObject({ code: 0, out: '1 sent, 0 there already, 0 refused\n' });
    expect(await cli(['upload', folder])).toMatchObject({ code: 0, out: '1 sent, 1 there already, 0 refused\n' });
    expect(await cli(['upload', folder])).toMatchObject({ code: 0, out: '0 sent, 2 there already, 0 refused\n' });
  });

  it('an export has the calls that match', async () => {
    const { code, out } = await cli(['calls', 'export', '--format', 'ndjson', '--filter', 'partner_call_id=folder-a']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ partner_call_id: 'folder-a' });
  });

  it('every command has help with an example', async () => {
    const { out } = await cli(['completion']);
    const paths = Array.from(out.matchAll(/'([a-z ]+)'\) words='([^']*)'/g), ([, path = '', words = '']) => ({
      path,
      words,
    }));
    const commands = paths.filter(({ words }) => /^(--|$)/.test(words)).map(({ path }) => path.split(' '));
    expect(commands.length).toBeGreaterThan(20);
    for (const words of commands) {
      expect(await cli([...words, '--help'])).toMatchObject({
        code: 0,
        out: expect.stringMatching(/Examples?:\n {2}\$ /),
      });
    }
  });

  it('the program runs as it is installed', async () => {
    const env = { ...process.env, CALL_ANALYSIS_URL: service.url, CALL_ANALYSIS_TOKEN: token };
    const { stdout } = await promisify(execFile)(process.execPath, [program, 'calls', 'list', '--json'], { env });
    expect(stdout).toMatch(/^\{"uuid/);
  });

  it('webhooks listen prints deliveries, forwards them with their signature, and refuses what is signed otherwise', async () => {
    const received: IncomingMessage['headers'][] = [];
    const target = createServer((request, response) => {
      received.push(request.headers);
      request.resume().on('end', () => response.writeHead(202).end());
    }).listen(0, '127.0.0.1');
    await once(target, 'listening');
    const forward = `http://127.0.0.1:${(target.address() as AddressInfo).port}/hooks`;
    const secret = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`;
    const words = [program, 'webhooks', 'listen', '--port', '0', '--forward', forward, '--secret', secret];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    const printed = text(child.stdout);
    const [said] = (await once(child.stderr, 'data')) as [Buffer];
    const url = /http:\S+/.exec(said.toString())?.[0] ?? '';
    const body = JSON.stringify({ type: 'webhook.test', timestamp: new Date().toISOString(), data: {} });
    const post = (signature: string) =>
      fetch(url, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json',
          'webhook-id': 'm1',
          'webhook-timestamp': `${Math.floor(Date.now() / 1000)}`,
          'webhook-signature': signature,
        },
      });
    try {
      expect((await post(new Webhook(secret).sign('m1', new Date(), body))).status).toBe(202);
      expect((await post('v1,forged')).status).toBe(401);
      expect(received).toEqual([expect.objectContaining({ 'webhook-id': 'm1' })]);
    } finally {
      child.kill('SIGINT');
      target.close();
    }
    await once(child, 'exit');
    expect(child.exitCode).toBe(0);
    expect(await printed).toBe(`m1 ${body}\n`);
  });

  it('the completion for bash offers commands, and then their options', async () => {
    const script = `source <("${process.execPath}" "${program}" completion)
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _call_analysis; echo "\${COMPREPLY[@]}"; }
try call-analysis ca; try call-analysis calls ''; try call-analysis calls list --f`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script]);
    const said = stdout.trim().split('\n');
    expect(said[0]).toBe('calls campaigns');
    expect(said[1]?.split(' ')).toEqual(expect.arrayContaining(['list', 'show', 'export']));
    expect(said[2]).toBe('--filter');
  });
}
