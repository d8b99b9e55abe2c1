import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { writeZip } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient } from '../test/client/api-client.ts';
import { type Batch, type Client, newFirm } from '../test/client/new-firm.ts';
import { eventually, fetchWhenAvailable } from '../test/client/retry.ts';
import { admin } from '../test/system/command.ts';
import { startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';

const canary = (name: string): string => `${name}${randomBytes(6).toString('hex')}`;
const header =
  'client_phone_number,operator_name,duration,anonymized_text,start_time,segment_type,partner_call_id,operator_id\n';

/** What must not be in the log, each with a name. */
const secrets: [name: string, secret: string][] = [];
const sentence = canary('sentence');
const keys = { speechKey: canary('speechKey'), trace: canary('trace') };
let speech: Awaited<ReturnType<typeof openSpeechServer>>;
let service: SystemUnderTest;

/**
 * A speech server that transcribes every recording as the same sentence. Its first three responses are errors that
 * contain the sentence: the first makes the event be retried, the other two make the request be retried.
 */
async function openSpeechServer(spoken: string) {
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      asked += 1;
      response.setHeader('content-type', 'application/json');
      if (asked <= 3)
        response
          .writeHead(asked === 1 ? 404 : 500)
          .end(JSON.stringify({ error: { message: `cannot transcribe: ${spoken}` } }));
      else
        response.end(
          JSON.stringify({ text: spoken, language: 'english', segments: [{ start: 0.1, end: 0.9, text: spoken }] }),
        );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

beforeAll(async () => {
  speech = await openSpeechServer(`we never agreed to ${sentence}`);
  service = await startSystemUnderTest({
    LOG_LEVEL: 'debug',
    SPEECH_URL: speech.url,
    SPEECH_MODEL: 'test',
    SPEECH_API_KEY: keys.speechKey,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_EXPORTER_OTLP_HEADERS: `x-key=${keys.trace}`,
  });
  secrets.push(...Object.entries({ ...service.secrets, ...keys, sentence }));
});
afterAll(async () => {
  await service.stop();
  await speech.close();
});

describe('the log at the debug level', () => {
  it('consists of lines of JSON, with the requests among them', async () => {
    const phone = `99890${String(Math.random()).slice(2, 11)}`;
    const said = {
      word: canary('said'),
      operator: canary('Operator'),
      call: canary('call'),
      file: canary('file'),
      firm: canary('Firm'),
      user: canary('User'),
      body: canary('body'),
      query: canary('query'),
      path: canary('path'),
      wrong: canary('wrong'),
      id: canary('id'),
    };
    const firm = await admin<{ uuid: string }>(
      service.administration,
      'firm',
      'create',
      '--name',
      said.firm,
      '--country',
      'UZ',
      '--segment-type',
      'support',
    );
    await admin(service.administration, 'user', 'create', '--firm', firm.uuid, '--name', said.user, '--role', 'ADMIN');
    const client = await newFirm(service, { role: 'SUPERUSER', firm: firm.uuid });

    // Successful requests.
    const row = (id: string, text: string, number = `+${phone}`) =>
      `${number},${said.operator},60,"${text}",2026-10-01T09:00:00,support,${id},${said.id}\n`;
    const good = row(said.call, `<operator>Good morning ${said.word}<client>I want ${said.word} back`);
    const opened = await client.call<{ data: { metadata_upload_url: string; metadata_key: string } }>(
      'POST',
      '/api/v1/calls/upload',
      { metadata_filename: `${said.file}.csv` },
    );
    const url = opened.data.metadata_upload_url;
    const signature = new URL(url).search
      .slice(1)
      .split('&')
      .map((each) => each.split('=')[1]!)
      .sort((a, b) => b.length - a.length)[0]!;
    expect(signature.length).toBeGreaterThan(20);
    await fetchWhenAvailable(url, { method: 'PUT', body: header + good });
    const { data } = await client.call<{ data: Batch }>('POST', '/api/v1/calls/process-upload', {
      metadata_key: opened.data.metadata_key,
    });
    await eventually(
      async () => (await client.call<Batch>('GET', `/api/v1/calls/batches/${data.batch_id}`)).finished_at !== null,
    );
    const { items } = await client.call<{ items: { uuid: string }[] }>(
      'GET',
      `/api/v1/calls?partner_call_id=${said.call}`,
    );
    expect(JSON.stringify(await client.call('GET', `/api/v1/calls/${items[0]!.uuid}`))).toContain(said.word);
    const { api_key } = await client.call<{ api_key: string }>('POST', '/external/api/v1/api-key', {
      firm_uuid: firm.uuid,
    });
    const use = (key: string) =>
      fetchWhenAvailable(`${service.url}/external/api/v1/call-campaign`, { headers: { 'x-service-api-key': key } });
    expect((await use(api_key)).status).toBe(200);

    // Failing requests: rejected rows, incomplete bodies, forged credentials, altered signatures, unknown paths.
    const bad = await client.upload(
      header + row('a', said.word) + row('b', `<operator>${said.word}<client>`, `${phone}${phone}`) + `"${said.word}`,
      `${said.file}.csv`,
    );
    expect((await client.request('POST', '/api/v1/calls/process-upload', { metadata_key: bad })).status).toBe(400);
    const faulty = await client.upload(
      header + row('a', said.word) + row('b', `<operator>${said.word}<client>`, `${phone}${phone}`),
      `${said.file}.csv`,
    );
    const refused = await client.request<{ details: { rejected_csv_url: string } }>(
      'POST',
      '/api/v1/calls/process-upload',
      { metadata_key: faulty },
    );
    const rejected = await fetchWhenAvailable(refused.body.details.rejected_csv_url, {
      headers: { authorization: `Bearer ${client.token}` },
    });
    expect(await rejected.text()).toContain(said.word);
    await client.request('POST', '/api/v1/calls/upload', `{"metadata_filename":"${said.body}`);
    await client.request('POST', '/api/v1/calls/upload', { [said.body]: said.body, metadata_filename: said.body });
    await client.request('GET', `/api/v1/calls?${said.query}=${said.query}`);
    await client.request('GET', `/api/v1/calls?status=${said.query}`);
    await client.request('GET', `/api/v1/calls/${said.path}`);
    await client.request('GET', `/${said.path}`);
    await fetch(`${service.url}/api/v1/calls`, {
      headers: { authorization: `Bearer ${said.wrong}.${said.wrong}.${said.wrong}` },
    });
    await fetch(`${service.url}/api/v1/calls`, { headers: { 'x-request-id': `${said.wrong} ${said.wrong}` } });
    await use(`abcdefg$${said.wrong}`);
    await use(said.wrong);
    await fetch(`${url}${said.wrong}`, { method: 'PUT', body: said.body });
    await fetch(url, { headers: { cookie: said.wrong } });

    secrets.push(
      ...Object.entries({
        ...said,
        phone,
        signature,
        token: client.token,
        tokenSignature: client.token.split('.')[2]!,
        apiKey: api_key.split('$')[1]!,
      }),
    );
    const lines = service.stderr().split('\n').slice(0, -1);
    expect(lines.filter((line) => line.includes('"request"')).length).toBeGreaterThan(15);
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  });

  it('tells of faults of recordings and of failures', async () => {
    const said = Object.fromEntries(
      [
        'file',
        'entry',
        'operator',
        'group',
        'call',
        'reason',
        'wrongFile',
        'badEntry',
        'nested',
        'stray',
        'metadata',
        'field',
        'bytes',
      ].map((name) => [name, canary(name)]),
    ) as Record<string, string>;
    const phone = `99890${String(Math.random()).slice(2, 11)}`;
    const voices = await readFile(new URL('../../../services/transcription/fixtures/two-voices.wav', import.meta.url));
    const client: Client = await newFirm(service);
    const metadata = (file: string, id: string) => ({
      audio_file_name: file,
      client_phone_number: `+${phone}`,
      operator_name: said['operator'],
      operator_group_name: said['group'],
      disconnect_reason: said['reason'],
      start_time: '2026-10-01T09:00:00Z',
      segment_type: 'support',
      left_channel: 'operator',
      right_channel: 'client',
      partner_call_id: id,
    });
    const blob = (bytes: Uint8Array) => new Blob([new Uint8Array(bytes)]);
    const send = (bytes: Uint8Array, file: string, about: object) =>
      client.uploadRecording<{ audio_id: string }>(blob(bytes), file, about);
    const columns = [
      'audio_file_name',
      'client_phone_number',
      'operator_name',
      'operator_group_name',
      'start_time',
      'segment_type',
      'left_channel',
      'right_channel',
      'partner_call_id',
    ] as const;
    const csvOf = (files: readonly string[]) =>
      `${columns.join()}\n${files
        .map((file, at) => {
          const about = metadata(file, `${said['call']}-${file}-${at}`);
          return columns.map((column) => about[column]).join();
        })
        .join('\n')}\n`;

    // Single recordings: a valid one, and every kind of invalid one.
    const good = await send(voices, `${said['file']}.wav`, metadata(`${said['file']}.wav`, said['call']!));
    expect(good.status).toBe(200);
    const broken = Buffer.from(`RIFF....WAVEfmt ${said['bytes']!.repeat(40)}`);
    const mono = Buffer.from(voices);
    mono.writeUInt16LE(1, 22);
    for (const [bytes, file, about] of [
      [voices, `${said['wrongFile']}.wav`, metadata(`${said['file']}.wav`, 'x')],
      [voices, `${said['wrongFile']}.txt`, metadata(`${said['wrongFile']}.txt`, 'x')],
      [broken, `${said['file']}.wav`, metadata(`${said['file']}.wav`, 'x')],
      [broken, `${said['file']}.mp3`, metadata(`${said['file']}.mp3`, 'x')],
      [
        voices,
        `${said['file']}.wav`,
        { ...metadata(`${said['file']}.wav`, 'x'), client_phone_number: `${said['metadata']}${phone}` },
      ],
      [voices, `${said['file']}.wav`, { ...metadata(`${said['file']}.wav`, 'x'), [said['field']!]: said['metadata'] }],
      [voices.subarray(0, 4000), `${said['file']}.wav`, metadata(`${said['file']}.wav`, said['call']!)],
    ] as const) {
      await send(bytes, file, about);
    }
    for (const [name, value] of [
      ['metadata', `{"${said['metadata']}`],
      [said['field']!, said['metadata']!],
    ] as const) {
      const form = new FormData();
      form.append(name, value);
      await fetch(`${service.url}/api/v1/audio/upload`, {
        method: 'POST',
        headers: { authorization: `Bearer ${client.token}` },
        body: form,
      });
    }
    await fetch(`${service.url}/api/v1/audio/upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${said['metadata']}` },
      body: said['bytes']!,
    });

    // Batches: refused ones, and an accepted one with corrupt entries.
    for (const names of [
      [`${said['nested']}/a.wav`],
      [`${said['stray']}.wav`],
      [`${said['entry']}.wav`, `${said['stray']}.exe`],
    ]) {
      const keys = await client.uploadBatch(
        csvOf([`${said['entry']}.wav`]),
        blob(writeZip(names.map((name) => ({ name, data: voices }))).bytes),
      );
      expect((await client.request('POST', '/api/v1/calls/process-upload', keys)).status).toBe(400);
    }
    const entries = [
      { name: `${said['entry']}.wav`, data: voices },
      { name: `${said['badEntry']}-crc.wav`, data: voices, central: { crc32: 1 }, local: { crc32: 1 } },
      { name: `${said['badEntry']}-sound.wav`, data: broken },
      { name: `${said['badEntry']}-mono.wav`, data: mono },
    ];
    const keys = await client.uploadBatch(csvOf(entries.map(({ name }) => name)), blob(writeZip(entries).bytes));
    const { data } = await client.call<{ data: Batch }>('POST', '/api/v1/calls/process-upload', keys);
    expect(data).toMatchObject({ accepted: 4 });

    // Kill the database during the work, if the system has its own, and then the services that work on recordings.
    await service.killDatabase();
    const clientWithoutRetries = apiClient(service, client.token);
    for (let i = 0; i < 5; i++) {
      await clientWithoutRetries
        .uploadRecording(blob(voices), `${said['file']}.wav`, metadata(`${said['file']}.wav`, `${said['call']}-${i}`))
        .catch(() => {});
      await clientWithoutRetries.request('GET', `/api/v1/calls?partner_call_id=${said['call']}`).catch(() => {});
      await pause(100);
    }
    await service.kill('audio', 'ingest', 'transcription');
    await service.revive();
    await service.settled();
    await eventually(
      async () => (await client.call<Batch>('GET', `/api/v1/calls/batches/${data.batch_id}`)).finished_at !== null,
    );
    const completed = await client.call<{ items: { uuid: string; status: string }[] }>(
      'GET',
      '/api/v1/calls?status=completed',
    );
    const details = await Promise.all(completed.items.map(({ uuid }) => client.call('GET', `/api/v1/calls/${uuid}`)));
    expect(JSON.stringify(details)).toContain(sentence);
    const signatures = [...JSON.stringify(details).matchAll(/[?&][\w-]+=([\w%.-]{25,})/g)].map((match) => match[1]!);
    expect(signatures.length).toBeGreaterThan(0);

    for (const word of ['"event"', '"rpc"', '"request"', 'a call failed', 'An event waits.'])
      expect(service.stderr()).toContain(word);
    secrets.push(
      ...Object.entries({ ...said, phone, token: client.token, ...Object.fromEntries(signatures.entries()) }),
    );
  });

  it('has no token, key, secret, signature, phone number, name, text of a conversation or data of a recording', async () => {
    await service.end();
    const lines = [...service.stderr().split('\n'), ...(await service.databaseLog()).split('\n')];
    const leaked = secrets.map(([name, secret]) => [name, lines.find((line) => line.includes(secret))]);
    expect(leaked.filter(([, line]) => line !== undefined)).toEqual([]);
  });
});
