import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitUntil } from '@call-analysis/testing';
import type { Batch } from './test/client.ts';
import { newFirm } from './test/client.ts';
import { admin } from './test/command.ts';
import type { ServiceProcess } from './test/service-process.ts';
import { startService } from './test/service-process.ts';

const canary = (name: string): string => `${name}${randomBytes(6).toString('hex')}`;
const header = 'client_phone_number,operator_name,duration,anonymized_text,start_time,segment_type,partner_call_id,operator_id\n';

let service: ServiceProcess;
beforeAll(async () => {
  service = await startService(undefined, { LOG_LEVEL: 'debug' });
}, 60_000);
afterAll(async () => {
  await service.stop();
}, 30_000);

describe('the log at its most talkative', () => {
  it('holds no token, key, secret, signature, phone number, name or word of a conversation', async () => {
    const phone = `99890${String(Math.random()).slice(2, 11)}`;
    const said = { word: canary('said'), operator: canary('Operator'), call: canary('call'), file: canary('file'), firm: canary('Firm'), user: canary('User'), body: canary('body'), query: canary('query'), path: canary('path'), wrong: canary('wrong'), id: canary('id') };
    const { directory } = service;
    const firm = await admin<{ uuid: string }>({ DATA_DIR: directory }, 'firm', 'create', '--name', said.firm, '--country', 'UZ', '--segment-type', 'support');
    await admin({ DATA_DIR: directory }, 'user', 'create', '--firm', firm.uuid, '--name', said.user, '--role', 'ADMIN');
    const client = await newFirm(service, { role: 'SUPERUSER', firm: firm.uuid });

    // What goes well.
    const row = (id: string, text: string, number = `+${phone}`) => `${number},${said.operator},60,"${text}",2026-10-01T09:00:00,support,${id},${said.id}\n`;
    const good = row(said.call, `<operator>Good morning ${said.word}<client>I want ${said.word} back`);
    const opened = await client.call<{ data: { metadata_upload_url: string; metadata_key: string } }>('POST', '/api/v1/calls/upload', { metadata_filename: `${said.file}.csv` });
    const url = opened.data.metadata_upload_url;
    const signature = new URL(url).search.slice(1).split('&').map((each) => each.split('=')[1]!).sort((a, b) => b.length - a.length)[0]!;
    expect(signature.length).toBeGreaterThan(20);
    await fetch(url, { method: 'PUT', body: header + good });
    const { data } = await client.call<{ data: Batch }>('POST', '/api/v1/calls/process-upload', { metadata_key: opened.data.metadata_key });
    await waitUntil(async () => (await client.call<Batch>('GET', `/api/v1/calls/batches/${data.batch_id}`)).finished_at !== null);
    const { items } = await client.call<{ items: { uuid: string }[] }>('GET', `/api/v1/calls?partner_call_id=${said.call}`);
    expect(JSON.stringify(await client.call('GET', `/api/v1/calls/${items[0]!.uuid}`))).toContain(said.word);
    const { api_key } = await client.call<{ api_key: string }>('POST', '/external/api/v1/api-key', { firm_uuid: firm.uuid });
    const use = (key: string) => fetch(`${service.url}/external/api/v1/call-campaign`, { headers: { 'x-service-api-key': key } });
    expect((await use(api_key)).status).toBe(200);

    // And what does not: refused rows, bodies that break off, forged papers, altered signatures, unknown addresses.
    const bad = await client.upload(header + row('a', said.word) + row('b', `<operator>${said.word}<client>`, `${phone}${phone}`) + `"${said.word}`, `${said.file}.csv`);
    expect((await client.request('POST', '/api/v1/calls/process-upload', { metadata_key: bad })).status).toBe(400);
    const faulty = await client.upload(header + row('a', said.word) + row('b', `<operator>${said.word}<client>`, `${phone}${phone}`), `${said.file}.csv`);
    const refused = await client.request<{ details: { rejected_csv_url: string } }>('POST', '/api/v1/calls/process-upload', { metadata_key: faulty });
    const rejected = await fetch(refused.body.details.rejected_csv_url, { headers: { authorization: `Bearer ${client.token}` } });
    expect(await rejected.text()).toContain(said.word);
    await client.request('POST', '/api/v1/calls/upload', `{"metadata_filename":"${said.body}`);
    await client.request('POST', '/api/v1/calls/upload', { [said.body]: said.body, metadata_filename: said.body });
    await client.request('GET', `/api/v1/calls?${said.query}=${said.query}`);
    await client.request('GET', `/api/v1/calls?status=${said.query}`);
    await client.request('GET', `/api/v1/calls/${said.path}`);
    await client.request('GET', `/${said.path}`);
    await fetch(`${service.url}/api/v1/calls`, { headers: { authorization: `Bearer ${said.wrong}.${said.wrong}.${said.wrong}` } });
    await fetch(`${service.url}/api/v1/calls`, { headers: { 'x-request-id': `${said.wrong} ${said.wrong}` } });
    await use(`abcdefg$${said.wrong}`);
    await use(said.wrong);
    await fetch(`${url}${said.wrong}`, { method: 'PUT', body: said.body });
    await fetch(url, { headers: { cookie: said.wrong } });

    const { jwtSecret, apiKeyPepper, urlSecret, databasePassword } = JSON.parse(await readFile(join(directory, 'secrets.json'), 'utf8')) as Record<string, string>;
    const secrets = { ...said, phone, signature, token: client.token, tokenSignature: client.token.split('.')[2]!, apiKey: api_key.split('$')[1]!, jwtSecret: jwtSecret!, apiKeyPepper: apiKeyPepper!, urlSecret: urlSecret!, databasePassword: databasePassword! };
    await service.stop({ keep: true });
    const log = service.stderr();
    // The lines are there, so that what is not in them means something.
    expect(log.split('\n').filter((line) => line.includes('"request"')).length).toBeGreaterThan(15);
    for (const line of log.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
    const postgres = await readFile(join(directory, 'postgres', 'postgres.log'), 'utf8');
    const told = Object.entries(secrets).filter(([, secret]) => log.includes(secret) || postgres.includes(secret));
    expect(told.map(([name]) => name)).toEqual([]);
  }, 60_000);
});
