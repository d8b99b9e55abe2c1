import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { publishedBy } from '../packages/events/index.ts';
import { events as analysis } from '../services/analysis/start.ts';
import { events as audio } from '../services/audio/start.ts';
import { events as gateway } from '../services/gateway/start.ts';
import { events as ingest } from '../services/ingest/start.ts';
import { events as keyManagement } from '../services/key-management/start.ts';
import { events as transcription } from '../services/transcription/start.ts';
import { events as webhooks } from '../services/webhooks/start.ts';

const script = fileURLToPath(new URL('./service.ts', import.meta.url));

async function run(...args: string[]) {
  const env = { PATH: process.env['PATH'] };
  const { stdout, stderr, code } = await promisify(execFile)(process.execPath, [script, ...args], { env }).then(
    (said) => ({ ...said, code: 0 }),
    (error: { stdout: string; stderr: string; code: number }) => error,
  );
  return { code, stdout, stderr };
}

describe('npm run service', () => {
  it('lists the services when the name is unknown or missing', async () => {
    const known = 'The services are gateway, key-management, ingest, audio, transcription, analysis, webhooks.\n';
    expect(await run('ingset')).toEqual({
      code: 2,
      stdout: '',
      stderr: `There is no service ingset; did you mean ingest? ${known}`,
    });
    expect(await run()).toEqual({ code: 2, stdout: '', stderr: `Which service? ${known}` });
  });

  it('prints the variables of a service when none of them is set', async () => {
    const { code, stdout } = await run('transcription', '--help');
    expect(code).toBe(0);
    for (const name of [
      'SPEECH_WORKERS',
      'WORK_DIR',
      'DATABASE_URL (required), a secret',
      'S3_BUCKET (required)',
      'DRAIN (5s)',
    ]) {
      expect(stdout).toContain(`  ${name}`);
    }
  });

  it('refuses an environment without Kafka, and names the command that needs none', async () => {
    const { code, stdout, stderr } = await run('ingest');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^KAFKA_BROKERS must be set for a service in a process of its own; npm start runs all of them on one machine without\.$/m,
    );
    expect(stderr).toMatch(/^DATABASE_URL must be set\.$/m);
  });
});

describe('every event that a service consumes', () => {
  const services = { gateway, keyManagement, ingest, audio, transcription, analysis, webhooks };

  it('is published by a service, or by the administrator command', () => {
    const all = Object.values(services);
    // Of the administrator: `npm run -s admin -- dead-letter replay`.
    const published = new Set(
      [...all.flatMap(({ publishes }) => publishes), ...publishedBy('admin')].map(({ type }) => type),
    );
    const unpublished = all
      .flatMap(({ consumes }) => consumes.map(({ type }) => type))
      .filter((type) => !published.has(type));
    expect(unpublished).toEqual([]);
  });
});
