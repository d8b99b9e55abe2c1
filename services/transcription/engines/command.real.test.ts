import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Piece, SpeechEngine } from '../engine.ts';
import { commandEngine } from './command.ts';
import { commandConfig } from './config.ts';
import { needed, readPiece, spoken, wordErrors } from './spoken-samples-under-test.ts';

jest.setTimeout(180_000);

describe('command engine with a real recogniser', () => {
  let samples: string;
  let workDirectory: string;
  let command: string;
  const engines: SpeechEngine[] = [];

  beforeAll(async () => {
    samples = needed(process.env, 'TEST_SPEECH_SAMPLES');
    command = needed(process.env, 'TEST_SPEECH_COMMAND');
    workDirectory = await mkdtemp(join(tmpdir(), 'real-recogniser-'));
  });

  afterAll(async () => {
    for (const engine of engines) await engine.close();
    await rm(workDirectory, { recursive: true, force: true });
  });

  /** The recogniser as an operator would configure it; a program that is not installed fails here, by its name. */
  function open(text: string): SpeechEngine {
    const engine = commandEngine({
      ...commandConfig({ PATH: process.env.PATH, SPEECH_COMMAND: text })!,
      workDirectory,
    });
    engines.push(engine);
    return engine;
  }

  async function textOf(engine: SpeechEngine, piece: Piece): Promise<string> {
    const { utterances } = await engine.hear(piece, { language: null, signal: new AbortController().signal });
    return utterances.map(({ text }) => text).join(' ');
  }

  it('hears what people read, from a file, and leaves none behind', async () => {
    const engine = open(command);
    const errors = await Promise.all(
      (['go-forward.wav', 'do-something.wav', 'novel-3.wav'] as const).map(async (name) =>
        wordErrors(spoken[name], await textOf(engine, readPiece(samples, name))),
      ),
    );
    expect(errors.reduce((sum, each) => sum + each, 0) / errors.length).toBeLessThan(0.1);
    await expect(readdir(workDirectory)).resolves.toEqual([]);
  });

  it('hears the same from standard input', async () => {
    const engine = open(command.replace('{file}', '/dev/stdin'));
    await expect(textOf(engine, readPiece(samples, 'go-forward.wav'))).resolves.toBe('go forward ten meters');
  });

  it('gives no words for silence', async () => {
    await expect(textOf(open(command), { samples: new Float32Array(16_000) })).resolves.toBe('');
  });

  it('fails when the recogniser does, with what it complained of as the cause', async () => {
    const engine = open(JSON.stringify(['pocketsphinx_continuous', '-infile', '{file}', '-hmm', '/no/such/model']));
    const fault = (await textOf(engine, readPiece(samples, 'go-forward.wav')).catch(
      (error: unknown) => error,
    )) as Error;
    expect(fault).toMatchObject({ kind: 'unavailable', code: 'ENGINE_FAILED' });
    expect((fault.cause as Error).message).toContain('/no/such/model');
  });
});
