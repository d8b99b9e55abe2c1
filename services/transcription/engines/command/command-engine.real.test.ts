import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readSegment, required, spoken, wordErrorRate } from '../../test/spoken-samples.ts';
import { commandConfig } from '../config.ts';
import type { SpeechEngine, SpeechSegment } from '../speech-engine.ts';
import { commandEngine } from './command-engine.ts';

jest.setTimeout(180_000);

describe('command engine with a real recognizer', () => {
  let samples: string;
  let workDirectory: string;
  let command: string;
  const engines: SpeechEngine[] = [];

  beforeAll(async () => {
    samples = required(process.env, 'TEST_SPEECH_SAMPLES');
    command = required(process.env, 'TEST_SPEECH_COMMAND');
    workDirectory = await mkdtemp(join(tmpdir(), 'real-recognizer-'));
  });

  afterAll(async () => {
    for (const engine of engines) await engine.close();
    await rm(workDirectory, { recursive: true, force: true });
  });

  /** Parses the command as the service does, so a program that is not installed fails here with its name. */
  function open(text: string): SpeechEngine {
    const engine = commandEngine({
      ...commandConfig({ PATH: process.env.PATH, SPEECH_COMMAND: text })!,
      workDirectory,
    });
    engines.push(engine);
    return engine;
  }

  async function textOf(engine: SpeechEngine, segment: SpeechSegment): Promise<string> {
    const { utterances } = await engine.transcribe(segment, { language: null, signal: new AbortController().signal });
    return utterances.map(({ text }) => text).join(' ');
  }

  it('transcribes read speech from a file and leaves no file behind', async () => {
    const engine = open(command);
    const errors = await Promise.all(
      (['go-forward.wav', 'do-something.wav', 'novel-3.wav'] as const).map(async (name) =>
        wordErrorRate(spoken[name], await textOf(engine, readSegment(samples, name))),
      ),
    );
    expect(errors.reduce((sum, each) => sum + each, 0) / errors.length).toBeLessThan(0.1);
    await expect(readdir(workDirectory)).resolves.toEqual([]);
  });

  it('transcribes the same speech from standard input', async () => {
    const engine = open(command.replace('{file}', '/dev/stdin'));
    await expect(textOf(engine, readSegment(samples, 'go-forward.wav'))).resolves.toBe('go forward ten meters');
  });

  it('returns no words for silence', async () => {
    await expect(textOf(open(command), { samples: new Float32Array(16_000) })).resolves.toBe('');
  });

  it('fails when the recognizer does', async () => {
    const engine = open(JSON.stringify(['pocketsphinx_continuous', '-infile', '{file}', '-hmm', '/no/such/model']));
    await expect(textOf(engine, readSegment(samples, 'go-forward.wav'))).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'ENGINE_FAILED',
    });
  });
});
