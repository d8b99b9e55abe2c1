import type { Language } from '@call-analysis/events';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readSegment, required, spoken, wordErrorRate } from '../../test/spoken-samples.ts';
import { SAMPLE_RATE_HZ, type SpeechEngine, type SpeechSegment } from '../speech-engine.ts';
import { serverEngine } from './server-engine.ts';

// Whisper is slow on a busy machine.
jest.setTimeout(180_000);

describe('speech server engine with a real server', () => {
  let engine: SpeechEngine;
  let samples: string;

  beforeAll(async () => {
    samples = required(process.env, 'TEST_SPEECH_SAMPLES');
    const url = required(process.env, 'TEST_SPEECH_URL');
    const answer = await fetch(new URL('/health', url)).catch(() => null);
    if (answer?.ok !== true)
      throw new Error(`No speech server answers at TEST_SPEECH_URL (${url}). It may have been stopped.`);
    engine = serverEngine({ provider: 'openai', url, model: 'base', concurrency: 3 });
  });

  afterAll(() => engine?.close());

  function transcribe(segment: SpeechSegment, language: Language | null = null) {
    return engine.transcribe(segment, { language, signal: new AbortController().signal });
  }

  it('transcribes read speech, several segments at the same time, with times inside the segments', async () => {
    const errors = await Promise.all(
      Object.entries(spoken).map(async ([name, text]) => {
        const segment = readSegment(samples, name);
        const { utterances, language } = await transcribe(segment);
        expect(language).toBe('en');
        for (const { start, end } of utterances) {
          expect(start).toBeLessThan(end);
          expect(end).toBeLessThanOrEqual(segment.samples.length / SAMPLE_RATE_HZ);
        }
        return wordErrorRate(text, utterances.map((each) => each.text).join(' '));
      }),
    );
    expect(errors.reduce((sum, each) => sum + each, 0) / errors.length).toBeLessThan(0.1);
  });

  it('detects Spanish', async () => {
    const { utterances, language } = await transcribe(readSegment(samples, 'spanish.wav'));
    expect(language).toBe('es');
    expect(utterances.map(({ text }) => text).join(' ')).toMatch(/gracias por llamar/i);
  });

  it('refuses German, which is not supported', async () => {
    await expect(transcribe(readSegment(samples, 'german.wav'))).rejects.toMatchObject({
      code: 'LANGUAGE_NOT_SUPPORTED',
      details: { language: 'de' },
    });
  });

  it('transcribes a segment although the server does not know the language that it is given', async () => {
    // Whisper does not know Kyrgyz, and this server answers 500 to its code.
    const { utterances } = await transcribe(readSegment(samples, 'novel-1.wav'), 'ky');
    expect(utterances.map(({ text }) => text).join(' ')).toMatch(/young man/i);
  });

  it('returns no words for silence, a tone or noise', async () => {
    const sounds: ((index: number) => number)[] = [
      () => 0,
      (index) => 0.3 * Math.sin((index * 2 * Math.PI * 440) / SAMPLE_RATE_HZ),
      // Fixed noise, so that every run is the same.
      (index) => 0.05 * ((((index + 1) * 2_654_435_761) % 4_294_967_296) / 2_147_483_648 - 1),
    ];
    for (const sound of sounds) {
      const segment = { samples: Float32Array.from({ length: 6 * SAMPLE_RATE_HZ }, (_, index) => sound(index)) };
      await expect(transcribe(segment)).resolves.toMatchObject({ utterances: [] });
    }
  });
});
