import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SAMPLE_RATE_HZ, type SpeechEngine, type SpeechSegment, type TimedText } from './speech-engine.ts';

/** An engine whose recognizer is a test double. */
interface EngineForTest {
  readonly engine: SpeechEngine;
  /** The recognizer returns these texts for every segment from now on, each after `afterMs`. */
  returns(texts: readonly TimedText[], options?: { readonly language?: string; readonly afterMs?: number }): void;
  /** The recognizer accepts segments and does not answer for longer than a test may take; the engine keeps waiting. */
  hangs(): void;
  /** The recognizer fails on every segment, in a way that a retry may fix. */
  fails(): void;
  /** How many segments have reached the recognizer so far, and how many at the same time at most. */
  received(): { readonly segments: number; readonly maxConcurrent: number };
  close(): Promise<void>;
}

const never = new AbortController().signal;

export function segmentOf(seconds: number): SpeechSegment {
  const samples = new Float32Array(Math.round(seconds * SAMPLE_RATE_HZ));
  for (let index = 0; index < samples.length; index += 1) samples[index] = Math.sin(index / 7) * 0.3;
  return { samples };
}

/** The promises of SpeechEngine. Every engine whose recognizer a test can replace keeps all of them. */
export function engineContract(name: string, open: (options: { concurrency: number }) => Promise<EngineForTest>): void {
  describe(`speech engine: ${name}`, () => {
    let test: EngineForTest;
    const transcribe = (seconds = 2, signal = never) =>
      test.engine.transcribe(segmentOf(seconds), { language: null, signal });

    beforeEach(async () => {
      test = await open({ concurrency: 2 });
    });

    afterEach(() => test.close());

    it('returns what was said and when, in order and inside the segment', async () => {
      test.returns([
        { text: ' and then\nthis ', start: 1.5, end: 9 },
        { text: 'First this', start: -0.2, end: 1 },
        { text: 'this begins after the end', start: 2.5, end: 3 },
      ]);
      await expect(transcribe(2)).resolves.toMatchObject({
        utterances: [
          { text: 'First this', start: 0, end: 1 },
          { text: 'and then this', start: 1.5, end: 2 },
        ],
      });
    });

    it('returns how sure it is of the words, where the recognizer tells, as a probability', async () => {
      test.returns([{ text: 'Perhaps this', start: 0, end: 1, confidence: 0.42 }]);
      const [utterance] = (await transcribe()).utterances;
      expect(utterance!.confidence).toBeCloseTo(0.42);
      test.returns([{ text: 'Perhaps this', start: 0, end: 1, confidence: 42 }]);
      expect((await transcribe()).utterances[0]).not.toHaveProperty('confidence');
    });

    it('returns no utterances when nothing was said', async () => {
      test.returns([]);
      await expect(transcribe()).resolves.toMatchObject({ utterances: [] });
      test.returns([{ text: ' … ', start: 0, end: 1 }]);
      await expect(transcribe()).resolves.toMatchObject({ utterances: [] });
    });

    it('returns no utterances for a segment without samples', async () => {
      test.fails();
      await expect(transcribe(0)).resolves.toMatchObject({ utterances: [] });
    });

    it('transcribes a segment of any length', async () => {
      test.returns([{ text: 'short', start: 0, end: 0.01 }]);
      const segment = { samples: new Float32Array(2003) };
      await expect(test.engine.transcribe(segment, { language: null, signal: never })).resolves.toMatchObject({
        utterances: [{ text: 'short' }],
      });
    });

    it('returns text that a database and JSON can store', async () => {
      test.returns([{ text: 'be\u0000fore \u0007 af\u2028ter', start: 0, end: 1 }]);
      await expect(transcribe()).resolves.toMatchObject({ utterances: [{ text: 'be fore af ter' }] });
    });

    it("reports a supported language by the product's own code", async () => {
      test.returns([{ text: 'Buenos días', start: 0, end: 1 }], { language: 'Spanish' });
      await expect(transcribe()).resolves.toMatchObject({ language: 'es' });
      test.returns([{ text: 'Саламатсызбы', start: 0, end: 1 }], { language: 'ky' });
      await expect(transcribe()).resolves.toMatchObject({ language: 'ky' });
    });

    it('refuses an unsupported language when the segment is long enough, and accepts short doubtful segments', async () => {
      test.returns([{ text: 'Bonjour, ma commande n’est pas arrivée', start: 0, end: 6 }], { language: 'french' });
      await expect(transcribe(6)).rejects.toMatchObject({ kind: 'invalid', code: 'LANGUAGE_NOT_SUPPORTED' });
      await expect(transcribe(1)).resolves.toMatchObject({ language: null, utterances: [{ start: 0 }] });
      await expect(test.engine.transcribe(segmentOf(6), { language: 'en', signal: never })).resolves.toMatchObject({
        language: null,
      });
    });

    it('transcribes no more segments at the same time than it states, and all of them in the end', async () => {
      test.returns([{ text: 'one of many', start: 0, end: 1 }], { afterMs: 20 });
      expect(test.engine.concurrency).toBe(2);
      const all = await Promise.all(Array.from({ length: 5 }, () => transcribe()));
      expect(all.every(({ utterances }) => utterances.length === 1)).toBe(true);
      expect(test.received().segments).toBe(5);
      expect(test.received().maxConcurrent).toBeLessThanOrEqual(2);
    });

    it('fails with a Fault that allows a retry, and transcribes the next segment', async () => {
      test.fails();
      await expect(transcribe()).rejects.toMatchObject({ name: 'Fault', kind: 'unavailable' });
      test.returns([{ text: 'again', start: 0, end: 1 }]);
      await expect(transcribe()).resolves.toMatchObject({ utterances: [{ text: 'again' }] });
    });

    it("stops when its signal aborts, with the signal's reason and without an answer, and frees the slot", async () => {
      test.hangs();
      const stop = new AbortController();
      const hung = [transcribe(2, stop.signal), transcribe(2, stop.signal), transcribe(2, stop.signal)];
      await untilReceived(2);
      stop.abort(new Error('the call was deleted'));
      for (const each of await Promise.allSettled(hung)) {
        expect(each).toMatchObject({ status: 'rejected', reason: { message: 'the call was deleted' } });
      }
      test.returns([{ text: 'again', start: 0, end: 1 }]);
      await expect(transcribe()).resolves.toMatchObject({ utterances: [{ text: 'again' }] });
      expect(test.received().segments).toBe(3);
    });

    it('starts nothing when its signal has aborted before', async () => {
      await expect(transcribe(2, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
      expect(test.received().segments).toBe(0);
    });

    it('aborts its work and refuses further segments when it is closed', async () => {
      test.hangs();
      const hung = Promise.allSettled([transcribe(), transcribe(), transcribe()]);
      await untilReceived(2);
      await test.engine.close();
      for (const each of await hung)
        expect(each).toMatchObject({ reason: { kind: 'unavailable', code: 'ENGINE_UNAVAILABLE' } });
      await expect(transcribe()).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
      await test.engine.close();
    });

    async function untilReceived(segments: number): Promise<void> {
      while (test.received().segments < segments) await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
}
