import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { z } from 'zod';
import {
  byteSize,
  ConfigFault,
  duration,
  group,
  hostAndPort,
  logLevel,
  parseByteSize,
  parseConfig,
  parseDuration,
  port,
  shared,
  readAll,
  withSecretFiles,
} from './config.ts';

function faultOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ConfigFault) return error.message;
    throw error;
  }
  return 'no fault';
}

describe('parseConfig', () => {
  const Settings = z.object({
    PORT: port().default(8080),
    LOG_LEVEL: logLevel().default('info'),
    DATABASE_URL: z.url(),
    JWT_SECRET: z.string().min(32).optional(),
    TOKEN_TTL: duration().default(43_200_000),
    MAX_CSV: byteSize().default(5 * 2 ** 30),
  });

  it('turns variables into settings, with defaults for what is not set or set to nothing', () => {
    const env = { DATABASE_URL: 'postgres://localhost/x', PORT: '', TOKEN_TTL: '30m', MAX_CSV: '2 MiB', HOME: '/root' };
    expect(parseConfig(Settings, env)).toEqual({
      PORT: 8080,
      LOG_LEVEL: 'info',
      DATABASE_URL: 'postgres://localhost/x',
      TOKEN_TTL: 1_800_000,
      MAX_CSV: 2_097_152,
    });
  });

  it('names every wrong variable, with what it must be and what it is', () => {
    const env = { PORT: '99999', LOG_LEVEL: 'loud', TOKEN_TTL: 'soon', MAX_CSV: 'big' };
    expect(faultOf(() => parseConfig(Settings, env)).split('\n')).toEqual([
      'PORT must be a port from 0 to 65535, not "99999".',
      'LOG_LEVEL must be one of debug, info, warn, error, silent, not "loud".',
      'DATABASE_URL must be set.',
      'TOKEN_TTL must be a duration like 500ms, 45s, 30m, 12h or 7d, not "soon".',
      'MAX_CSV must be a size like 1048576, 512KiB, 50MiB or 5GiB, not "big".',
    ]);
  });

  it('never shows a wrong secret', () => {
    const env = { DATABASE_URL: 'x://y', JWT_SECRET: 'short' };
    expect(faultOf(() => parseConfig(Settings, env))).toBe('JWT_SECRET must have at least 32 characters.');
    const wrongUrl = faultOf(() => parseConfig(Settings, { DATABASE_URL: 'postgres//me:hush@host' }));
    expect(wrongUrl).toBe('DATABASE_URL must be a URL.');
  });

  it('lists the alternatives when a value is none of them', () => {
    const Objects = z.discriminatedUnion('OBJECTS', [
      z.object({ OBJECTS: z.literal('disk'), OBJECTS_DIR: z.string() }),
      z.object({ OBJECTS: z.literal('s3'), S3_BUCKET: z.string() }),
    ]);
    const sentence = 'OBJECTS must be one of disk, s3, not "tape".';
    expect(faultOf(() => parseConfig(Objects, { OBJECTS: 'tape' }))).toBe(sentence);
    expect(faultOf(() => parseConfig(Objects, { OBJECTS: 's3' }))).toBe('S3_BUCKET must be set.');
  });
});

describe('group', () => {
  const names = ['S3_ENDPOINT', 'S3_BUCKET', 'S3_SECRET_KEY'];

  it('is all or none', () => {
    expect(group({ S3_ENDPOINT: 'a', S3_BUCKET: 'b', S3_SECRET_KEY: 'c' }, names)).toBe('all');
    expect(group({ S3_BUCKET: '' }, names)).toBe('none');
  });

  it('names the missing variables of a group in one sentence', () => {
    expect(faultOf(() => group({ S3_ENDPOINT: 'a' }, names))).toBe(
      'S3_ENDPOINT is set, so S3_BUCKET and S3_SECRET_KEY must be set too.',
    );
    expect(faultOf(() => group({ S3_ENDPOINT: 'a', S3_BUCKET: 'b' }, names))).toBe(
      'S3_ENDPOINT and S3_BUCKET are set, so S3_SECRET_KEY must be set too.',
    );
  });
});

describe('readAll', () => {
  it('returns the settings of every reader', () => {
    expect(readAll({ a: () => 1, b: () => 'two' })).toEqual({ a: 1, b: 'two' });
  });

  it('reports the faults of all readers, each sentence once, and rethrows other errors', () => {
    const refuse = (message: string) => () => {
      throw new ConfigFault(message);
    };
    const readers = { a: refuse('A.\nB.'), b: () => 1, c: refuse('B.\nC.') };
    expect(faultOf(() => readAll(readers))).toBe('A.\nB.\nC.');
    expect(() => readAll({ ...readers, d: () => JSON.parse('{') as unknown })).toThrow(SyntaxError);
  });
});

describe('shared', () => {
  it('returns the settings, or names the variables and the way to run without them', () => {
    expect(shared(['KAFKA_BROKERS'], 'kafka')).toBe('kafka');
    expect(faultOf(() => shared(['S3_ENDPOINT', 'S3_BUCKET'], undefined))).toBe(
      'S3_ENDPOINT and S3_BUCKET must be set for a service in a process of its own; npm start runs all of them on one machine without.',
    );
  });
});

describe('an address', () => {
  it.each(['ingest:50051', 'ingest.calls.svc.cluster.local:1', '10.0.0.1:65535', '[::1]:50051'])(
    'may be %s',
    (text) => {
      expect(hostAndPort().parse(text)).toBe(text);
    },
  );

  it.each([
    'ingest',
    ':50051',
    'ingest:0',
    'ingest:65536',
    'http://ingest:50051',
    '::1:50051',
    'a b:1',
    'ingest:50051/',
  ])('is not %s', (text) => {
    expect(hostAndPort().safeParse(text).success).toBe(false);
  });
});

describe('withSecretFiles', () => {
  const directory = mkdtempSync(join(tmpdir(), 'secret-files-'));
  function file(name: string, content: string): string {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  }

  it('reads a secret from the file that NAME_FILE names, without the newline at its end', () => {
    const env = { PEPPER_FILE: file('pepper', 'a$b \n\n'), JWT_SECRET: 'plain', OTHER_FILE: 'untouched' };
    expect(withSecretFiles(env, ['PEPPER', 'JWT_SECRET'])).toMatchObject({
      PEPPER: 'a$b \n',
      JWT_SECRET: 'plain',
      OTHER_FILE: 'untouched',
    });
  });

  it('refuses a secret that is set both ways, and files that are unreadable or empty', () => {
    const env = { A: 'x', A_FILE: 'y', B_FILE: '/does/not/exist', C_FILE: file('empty', '\n') };
    expect(faultOf(() => withSecretFiles(env, ['A', 'B', 'C'])).split('\n')).toEqual([
      'A and A_FILE are both set; set only one of them.',
      'B_FILE names /does/not/exist, which cannot be read (ENOENT).',
      `C_FILE names ${env.C_FILE}, which is empty.`,
    ]);
  });
});

describe('durations and sizes', () => {
  it('reads every duration whose units go from large to small', () => {
    const part = fc.option(fc.integer({ min: 0, max: 9999 }), { nil: undefined });
    fc.assert(
      fc.property(fc.tuple(part, part, part, part, part), ([d, h, m, s, ms]) => {
        const parts: [number | undefined, string, number][] = [
          [d, 'd', 86_400_000],
          [h, 'h', 3_600_000],
          [m, 'm', 60_000],
          [s, 's', 1000],
          [ms, 'ms', 1],
        ];
        const there = parts.filter(([count]) => count !== undefined);
        const text = there.map(([count, unit]) => `${count}${unit}`).join('');
        const expected = there.reduce((sum, [count = 0, , worth]) => sum + count * worth, 0);
        expect(parseDuration(text)).toBe(there.length === 0 ? null : expected);
      }),
    );
  });

  it.each([['12'], ['h'], ['1h 30m'], ['30m1h'], ['-5s'], ['1.5h'], ['5S'], ['1m1m'], ['9'.repeat(20) + 'd']])(
    'refuses %s as a duration',
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );

  it('reads every size, in decimal and binary units, in upper and lower case', () => {
    const unit = fc.constantFrom(
      { name: '', bytes: 1 },
      { name: 'B', bytes: 1 },
      { name: 'kB', bytes: 1e3 },
      { name: 'MB', bytes: 1e6 },
      { name: 'GB', bytes: 1e9 },
      { name: 'TB', bytes: 1e12 },
      { name: 'KiB', bytes: 2 ** 10 },
      { name: 'mib', bytes: 2 ** 20 },
      { name: 'GIB', bytes: 2 ** 30 },
      { name: 'TiB', bytes: 2 ** 40 },
    );
    fc.assert(
      fc.property(fc.nat(8000), unit, fc.constantFrom('', ' '), (count, { name, bytes }, gap) => {
        expect(parseByteSize(`${count}${gap}${name}`)).toBe(count * bytes);
      }),
    );
  });

  it.each([[''], ['MiB'], ['1.5MiB'], ['-1'], ['5 apples'], ['5M'], ['5iB'], ['9'.repeat(20)]])(
    'refuses %j as a size',
    (text) => {
      expect(parseByteSize(text)).toBeNull();
    },
  );
});
