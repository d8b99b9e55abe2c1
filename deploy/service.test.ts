import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import type { SubscriptionOptions } from '../packages/bus/index.ts';
import { consumers as analysisConsumers } from '../services/analysis/consumers.ts';
import { facts as analysisFacts } from '../services/analysis/start.ts';
import { consumers as audioConsumers } from '../services/audio/consumers.ts';
import { facts as audioFacts } from '../services/audio/start.ts';
import { facts as gatewayFacts } from '../services/gateway/start.ts';
import { consumers as ingestConsumers } from '../services/ingest/consumers.ts';
import { facts as ingestFacts } from '../services/ingest/start.ts';
import { consumers as keyConsumers } from '../services/key-management/consumers.ts';
import { facts as keyFacts } from '../services/key-management/start.ts';
import { consumers as transcriptionConsumers } from '../services/transcription/consumers.ts';
import { facts as transcriptionFacts } from '../services/transcription/start.ts';
import './standalone/test/time-limit.ts';

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
  it('answers a name that it does not know, or none, with those that it knows', async () => {
    const known = 'The services are gateway, key-management, ingest, audio, transcription, analysis.\n';
    expect(await run('ingset')).toEqual({
      code: 2,
      stdout: '',
      stderr: `There is no service ingset; did you mean ingest? ${known}`,
    });
    expect(await run()).toEqual({ code: 2, stdout: '', stderr: `Which service? ${known}` });
  });

  it('explains the variables of a service without needing any of them', async () => {
    const { code, stdout } = await run('transcription', '--help');
    expect(code).toBe(0);
    for (const name of [
      'SPEECH_EARS',
      'WORK_DIR',
      'DATABASE_URL (required), a secret',
      'S3_BUCKET (required)',
      'DRAIN (5s)',
    ]) {
      expect(stdout).toContain(`  ${name}`);
    }
  });

  it('refuses an environment that lacks what processes must share, and says how to do without', async () => {
    const { code, stdout, stderr } = await run('ingest');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^KAFKA_BROKERS must be set for a service in a process of its own; npm start runs all of them on one machine without\.$/m,
    );
    expect(stderr).toMatch(/^DATABASE_URL must be set\.$/m);
  });
});

describe('the topics that migrate makes', () => {
  // What they are made of is asked for only when something is heard.
  const parts = {} as never;
  const heard: Record<string, SubscriptionOptions[]> = {
    'key-management': keyConsumers(parts),
    ingest: ingestConsumers(parts),
    audio: audioConsumers(parts, { concurrency: 1, signal: AbortSignal.any([]) }),
    transcription: transcriptionConsumers(parts, 1),
    analysis: analysisConsumers(parts),
  };
  const facts = {
    'key-management': keyFacts,
    ingest: ingestFacts,
    audio: audioFacts,
    transcription: transcriptionFacts,
    analysis: analysisFacts,
  };

  it.each(Object.entries(facts))('are those of all that %s consumes', (name, { consumes }) => {
    const types = heard[name]!.flatMap(({ routes }) => routes.map(({ event }) => event.type));
    expect(new Set(consumes.map(({ type }) => type))).toEqual(new Set(types));
  });

  it('are those of facts that somebody publishes', () => {
    const all = [...Object.values(facts), gatewayFacts];
    // A retry is asked for by the administrator's command.
    const told = new Set([
      ...all.flatMap(({ publishes }) => publishes.map(({ type }) => type)),
      'calls.retry-requested.v1',
    ]);
    expect(all.flatMap(({ consumes }) => consumes.map(({ type }) => type)).filter((type) => !told.has(type))).toEqual(
      [],
    );
  });
});
