import { generateKeyPairSync, type KeyObject, randomUUID, verify } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '@call-analysis/runtime';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { issueToken } from './admin/issue-token.ts';
import { readSettings, start } from './start.ts';
import { fetchWhenAvailable } from './test/client/retry.ts';
import { admin, run } from './test/system/command.ts';
import { startServiceHere } from './test/system/service-here.ts';
import { type RunningService, startedDirectory } from './test/system/service-process.ts';

const log = createLog({ name: 'test', level: 'silent' });
const long = 'a'.repeat(32);
let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'call-analysis-settings-'));
});
afterAll(async () => {
  await rm(scratch, { recursive: true, force: true });
});

async function file(name: string, content: string): Promise<string> {
  const path = join(scratch, name);
  await writeFile(path, content);
  return path;
}

function pem({ publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject }) {
  return {
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

describe('an incomplete or wrong configuration', () => {
  it.each<[Record<string, string>, string[]]>([
    [{ RATE_LIMIT_PER_FIRM: 'many' }, ['RATE_LIMIT_PER_FIRM must be a whole number of requests per minute']],
    [{ TRUST_PROXY: '10.0.0.0/33' }, ['TRUST_PROXY must be addresses or networks']],
    [{ CORS_ORIGINS: 'https://example.com/' }, ['CORS_ORIGINS must be origins']],
    [
      { S3_ENDPOINT: 'http://127.0.0.1:9000' },
      ['S3_ENDPOINT is set', 'S3_BUCKET, S3_ACCESS_KEY and S3_SECRET_KEY must be set too.'],
    ],
    [{ SPEECH_URL: 'http://127.0.0.1:9000' }, ['SPEECH_URL is set, so SPEECH_MODEL must be set too.']],
    [{ LLM_MODEL: 'small' }, ['LLM_MODEL is set, so LLM_URL must be set too.']],
    [{ LLM_URL: 'http://127.0.0.1:9' }, ['LLM_URL is set, so LLM_MODEL must be set too.']],
    [{ LLM_API_KEY: 'k' }, ['LLM_API_KEY is set, so LLM_URL and LLM_MODEL must be set too.']],
    [{ KAFKA_BROKERS: 'kafka' }, ['KAFKA_BROKERS must be brokers separated by commas']],
    [{ KAFKA_SASL_PASSWORD: 'telling' }, ['KAFKA_SASL_PASSWORD is set, so KAFKA_BROKERS must be set too.']],
    [{ JWT_SECRET: 'short-and-telling' }, ['JWT_SECRET must have at least 32 bytes.']],
    [{ API_KEY_PEPPER: 'short-and-telling' }, ['API_KEY_PEPPER must have at least 32 bytes.']],
    [
      { JWT_SECRET: long, JWT_PUBLIC_KEY_FILE: '/key.pem' },
      ['JWT_SECRET and JWT_PUBLIC_KEY_FILE are both set; set only one of them.'],
    ],
    [{ JWT_PRIVATE_KEY_FILE: '/key.pem' }, ['JWT_PRIVATE_KEY_FILE is set, so JWT_PUBLIC_KEY_FILE must be set too.']],
    [
      { JWT_PUBLIC_KEY_FILE: '/no/such/key.pem' },
      ['JWT_PUBLIC_KEY_FILE names /no/such/key.pem, which cannot be read (ENOENT).'],
    ],
    [
      { JWT_PUBLIC_KEY_FILE: '/proc/version' },
      ['JWT_PUBLIC_KEY_FILE names /proc/version, which is not such a key in PEM form.'],
    ],
    [
      { JWT_SECRET: long, JWT_SECRET_FILE: '/secret' },
      ['JWT_SECRET and JWT_SECRET_FILE are both set; set only one of them.'],
    ],
    [
      { API_KEY_PEPPER_FILE: '/no/such/file' },
      ['API_KEY_PEPPER_FILE names /no/such/file, which cannot be read (ENOENT).'],
    ],
    [
      {
        CSV_MAX_BYTES: '0',
        CSV_MAX_ROWS: 'many',
        ZIP_MAX_BYTES: '6TiB',
        TRANSCRIPT_MAX_BYTES: '5MiB',
        VALUE_MAX_CHARS: '256',
      },
      [
        'CSV_MAX_BYTES must be 1KiB to 5TiB, not "0".',
        'CSV_MAX_ROWS must be a whole number from 1 to 1000000000, not "many".',
        'ZIP_MAX_BYTES must be 1KiB to 5TiB, not "6TiB".',
        'TRANSCRIPT_MAX_BYTES must be 1KiB to 4MiB, not "5MiB".',
        'VALUE_MAX_CHARS must be a whole number from 1 to 255, not "256".',
      ],
    ],
    [{ LOG_LEVEL: 'loud' }, ['LOG_LEVEL must be one of debug, info, warn, error, silent, not "loud".']],
    [{ PORT: '99999' }, ['PORT must be a port from 0 to 65535, not "99999".']],
    [{ PORT: '80a', LOG_LEVEL: 'loud' }, ['PORT must be', 'LOG_LEVEL must be']],
    [{ PUBLIC_URL: 'calls.example.org' }, ['PUBLIC_URL must be a URL, not "calls.example.org".']],
    [{ DATABASE_URL: 'mysql://root:telling@db/x' }, ['DATABASE_URL must begin with postgresql://.']],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, ['OTEL_EXPORTER_OTLP_ENDPOINT must be a URL']],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_EXPORTER_OTLP_HEADERS: 'telling' },
      ['OTEL_EXPORTER_OTLP_HEADERS must be written like name=value,name=value'],
    ],
  ])(
    'is refused before anything starts, with a sentence that names each variable: %j',
    async (variables, sentences) => {
      const DATA_DIR = join(scratch, 'untouched');
      const settings = { PORT: '0', DATA_DIR, ...variables };
      const attempt = async () => start(readSettings(settings), { log });
      const { message } = await attempt().then(
        () => new Error('the service started'),
        (error: Error) => error,
      );
      for (const sentence of sentences) expect(message).toContain(sentence);
      expect(message).not.toContain('telling');
      expect(existsSync(join(DATA_DIR, 'postgres'))).toBe(false);
    },
  );

  it('without limits of uploads uses those of the interface', () => {
    const { limits } = readSettings({ ZIP_MAX_BYTES: '', CSV_MAX_ROWS: '12', CSV_MAX_BYTES: '7MB' });
    expect(limits).toEqual({
      csvBytes: 7_000_000,
      csvRows: 12,
      storageQuotaBytes: null,
      zipBytes: 50 * 1024 ** 3,
      transcriptBytes: 4 * 1024 ** 2,
      valueChars: 255,
    });
  });

  it('puts only its sentences on standard error, one to a line, and the process exits with 1', async () => {
    const DATA_DIR = join(scratch, 'never-made');
    const { code, stdout, stderr } = await run('main.ts', [], { DATA_DIR, LOG_LEVEL: 'loud', PORT: '99999' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^PORT must be [^\n]+\.\nLOG_LEVEL must be [^\n]+\.\n$/);
    expect(existsSync(DATA_DIR)).toBe(false);
  });

  it('with a database that does not answer ends the start with a sentence', async () => {
    const DATABASE_URL = 'postgresql://me:telling@127.0.0.1:1/none';
    const { code, stderr } = await run('main.ts', [], {
      PORT: '0',
      DATA_DIR: join(scratch, 'elsewhere'),
      DATABASE_URL,
    });
    expect(code).toBe(1);
    expect(stderr).toBe('The database that DATABASE_URL names does not answer. Start it, or correct the URL.\n');
  });

  it('gives the same sentence from the admin command', async () => {
    const DATA_DIR = join(scratch, 'untouched');
    const { code, stdout, stderr } = await run('admin/main.ts', ['firm', 'list'], { DATA_DIR, JWT_SECRET: 'short' });
    expect([code, stdout, stderr]).toEqual([1, '', 'JWT_SECRET must have at least 32 bytes.\n']);
  });
});

describe('the keys of bearer tokens', () => {
  let userUuid: string;
  let DATA_DIR: string;

  beforeAll(async () => {
    DATA_DIR = await startedDirectory(join(scratch, 'data'));
    const firm = await admin<{ uuid: string }>({ DATA_DIR }, 'firm', 'create', '--name', 'F', '--country', 'UZ');
    const user = await admin<{ uuid: string }>(
      { DATA_DIR },
      'user',
      'create',
      '--firm',
      firm.uuid,
      '--name',
      'U',
      '--role',
      'ADMIN',
    );
    userUuid = user.uuid;
  });

  async function answer(service: RunningService, token: string): Promise<number> {
    return (await fetchWhenAvailable(`${service.url}/api/v1/calls`, { headers: { authorization: `Bearer ${token}` } }))
      .status;
  }

  async function issued(variables: Record<string, string>): Promise<string> {
    return (await admin<{ token: string }>({ DATA_DIR, ...variables }, 'token', 'issue', '--user', userUuid)).token;
  }

  it('may be a pair: tokens of the admin command are accepted, and tokens of the stored secret are refused', async () => {
    const pair = pem(generateKeyPairSync('ed25519'));
    const JWT_PUBLIC_KEY_FILE = await file('service.pub.pem', pair.publicPem);
    const JWT_PRIVATE_KEY_FILE = await file('service.pem', pair.privatePem);
    const service = await startServiceHere(DATA_DIR, { JWT_PUBLIC_KEY_FILE });
    expect(await answer(service, await issued({ JWT_PUBLIC_KEY_FILE, JWT_PRIVATE_KEY_FILE }))).toBe(200);
    expect(await answer(service, await issued({}))).toBe(401);
    await service.stop({ keep: true });
  });

  // A test of the gateway verifies tokens of each kind.
  it.each([
    ['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 }), 'sha256'],
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'sha256'],
    ['EdDSA', generateKeyPairSync('ed25519'), null],
  ] as const)('sign with %s when the pair is for it', async (algorithm, pair, digest) => {
    const { jwt } = readSettings({
      DATA_DIR,
      JWT_PUBLIC_KEY_FILE: await file(`${algorithm}.pub.pem`, pem(pair).publicPem),
      JWT_PRIVATE_KEY_FILE: await file(`${algorithm}.pem`, pem(pair).privatePem),
    });
    const user = { uuid: userUuid, firm_uuid: userUuid, role: 'ADMIN' };
    const { token } = await issueToken(jwt, long, user, 60_000, randomUUID());
    const [header = '', payload = '', signature = ''] = token.split('.');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({ alg: algorithm });
    const key = { key: pair.publicKey, dsaEncoding: 'ieee-p1363' as const };
    expect(verify(digest, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'))).toBe(true);
  });

  it.each<[string, { privateKey?: string; sentence: string }]>([
    ['without the private key', { sentence: 'set JWT_PRIVATE_KEY_FILE too' }],
    [
      'with another private key',
      { privateKey: pem(generateKeyPairSync('ed25519')).privatePem, sentence: 'do not belong together' },
    ],
    ['with an unreadable private key', { privateKey: 'none', sentence: 'JWT_PRIVATE_KEY_FILE names ' }],
  ])('sign nothing %s, and the admin command says why', async (_, { privateKey, sentence }) => {
    const variables: Record<string, string> = {
      DATA_DIR,
      JWT_PUBLIC_KEY_FILE: await file('mine.pub.pem', pem(generateKeyPairSync('ed25519')).publicPem),
    };
    if (privateKey !== undefined) variables['JWT_PRIVATE_KEY_FILE'] = await file('other.pem', privateKey);
    const user = { uuid: userUuid, firm_uuid: userUuid, role: 'ADMIN' };
    await expect(issueToken(readSettings(variables).jwt, long, user, 1000, randomUUID())).rejects.toThrow(sentence);
  });

  it('may be a secret in a file, and the issuer and audience come from the environment', async () => {
    const JWT_SECRET_FILE = await file('secret', `${long}\n`);
    const API_KEY_PEPPER_FILE = await file('pepper', `${long}\n`);
    const service = await startServiceHere(DATA_DIR, {
      JWT_SECRET_FILE,
      API_KEY_PEPPER_FILE,
      JWT_ISSUER: 'us',
      JWT_AUDIENCE: 'them',
    });
    expect(await answer(service, await issued({ JWT_SECRET: long, JWT_ISSUER: 'us', JWT_AUDIENCE: 'them' }))).toBe(200);
    expect(await answer(service, await issued({ JWT_SECRET: long }))).toBe(401);
    expect(await answer(service, await issued({ JWT_ISSUER: 'us', JWT_AUDIENCE: 'them' }))).toBe(401);
    await service.stop({ keep: true });
  });
});
