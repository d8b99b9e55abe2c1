import type { Language } from '@call-analysis/events';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { HEARING_RATE, type Piece, type SpeechEngine } from '../engine.ts';
import { openaiEngine } from './openai.ts';
import { needed, readPiece, spoken, wordErrors } from './spoken-samples-under-test.ts';

// Whisper on a busy machine takes its time.
jest.setTimeout(180_000);

describe('openai engine with a real server', () => {
  let engine: SpeechEngine;
  let samples: string;

  beforeAll(async () => {
    samples = needed(process.env, 'TEST_SPEECH_SAMPLES');
    const url = needed(process.env, 'TEST_SPEECH_URL');
    const answer = await fetch(new URL('/health', url)).catch(() => null);
    if (answer?.ok !== true)
      throw new Error(`No speech server answers at TEST_SPEECH_URL (${url}). Has it been stopped?`);
    engine = openaiEngine({ url, model: 'base', concurrency: 3 });
  });

  afterAll(() => engine?.close());

  function hear(piece: Piece, language: Language | null = null) {
    return engine.hear(piece, { language, signal: new AbortController().signal });
  }

  it('hears what people read, several at once, with times inside the pieces', async () => {
    const errors = await Promise.all(
      Object.entries(spoken).map(async ([name, text]) => {
        const piece = readPiece(samples, name);
        const { utterances, language } = await hear(piece);
        expect(language).toBe('en');
        for (const { start, end } of utterances) {
          expect(start).toBeLessThan(end);
          expect(end).toBeLessThanOrEqual(piece.samples.length / HEARING_RATE);
        }
        return wordErrors(text, utterances.map((each) => each.text).join(' '));
      }),
    );
    expect(errors.reduce((sum, each) => sum + each, 0) / errors.length).toBeLessThan(0.1);
  });

  it('finds Spanish by itself', async () => {
    const { utterances, language } = await hear(readPiece(samples, 'spanish.wav'));
    expect(language).toBe('es');
    expect(utterances.map(({ text }) => text).join(' ')).toMatch(/gracias por llamar/i);
  });

  it('refuses German, which is not ours', async () => {
    await expect(hear(readPiece(samples, 'german.wav'))).rejects.toMatchObject({
      code: 'LANGUAGE_NOT_SUPPORTED',
      details: { language: 'de' },
    });
  });

  it('hears a piece though the server does not know the language it is told', async () => {
    // Whisper has no Kyrgyz, and this server answers 500 to its code.
    const { utterances } = await hear(readPiece(samples, 'novel-1.wav'), 'ky');
    expect(utterances.map(({ text }) => text).join(' ')).toMatch(/young man/i);
  });

  it('gives no words for silence, a tone or noise', async () => {
    const sounds: ((index: number) => number)[] = [
      () => 0,
      (index) => 0.3 * Math.sin((index * 2 * Math.PI * 440) / HEARING_RATE),
      // A fixed noise, so that the test hears the same each time.
      (index) => 0.05 * ((((index + 1) * 2_654_435_761) % 4_294_967_296) / 2_147_483_648 - 1),
    ];
    for (const sound of sounds) {
      const piece = { samples: Float32Array.from({ length: 6 * HEARING_RATE }, (_, index) => sound(index)) };
      await expect(hear(piece)).resolves.toMatchObject({ utterances: [] });
    }
  });
});
