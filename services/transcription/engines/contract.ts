import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Heard, HEARING_RATE, type Piece, type SpeechEngine } from '../engine.ts';

export interface EngineForTest {
  readonly engine: SpeechEngine;
  /** What is heard in every piece from now on; each piece takes `afterMs`. */
  says(heard: readonly Heard[], options?: { readonly language?: string; readonly afterMs?: number }): void;
  /** Pieces are taken and nothing comes back, for longer than a test may take; nor does the engine give up before. */
  hangs(): void;
  /** Every piece fails, in a way that may pass. */
  fails(): void;
  /** Pieces that have reached the recogniser so far, and the most that were with it at the same time. */
  seen(): { readonly pieces: number; readonly mostAtOnce: number };
  close(): Promise<void>;
}

const never = new AbortController().signal;

export function pieceOf(seconds: number): Piece {
  const samples = new Float32Array(Math.round(seconds * HEARING_RATE));
  for (let index = 0; index < samples.length; index += 1) samples[index] = Math.sin(index / 7) * 0.3;
  return { samples };
}

/** The promises of SpeechEngine; every engine whose recogniser a test can play keeps all of them. */
export function engineContract(name: string, open: (options: { concurrency: number }) => Promise<EngineForTest>): void {
  describe(`speech engine: ${name}`, () => {
    let test: EngineForTest;
    const hear = (seconds = 2, signal = never) => test.engine.hear(pieceOf(seconds), { language: null, signal });

    beforeEach(async () => {
      test = await open({ concurrency: 2 });
    });

    afterEach(() => test.close());

    it('says what was heard and when, in order and inside the piece', async () => {
      test.says([
        { text: ' and then\nthis ', start: 1.5, end: 9 },
        { text: 'First this', start: -0.2, end: 1 },
        { text: 'nobody can have said this', start: 2.5, end: 3 },
      ]);
      await expect(hear(2)).resolves.toMatchObject({
        utterances: [
          { text: 'First this', start: 0, end: 1 },
          { text: 'and then this', start: 1.5, end: 2 },
        ],
      });
    });

    it('says nothing when nothing was said', async () => {
      test.says([]);
      await expect(hear()).resolves.toMatchObject({ utterances: [] });
      test.says([{ text: ' … ', start: 0, end: 1 }]);
      await expect(hear()).resolves.toMatchObject({ utterances: [] });
    });

    it('says nothing of a piece without samples', async () => {
      test.fails();
      await expect(hear(0)).resolves.toMatchObject({ utterances: [] });
    });

    it('hears a piece of any length', async () => {
      test.says([{ text: 'short', start: 0, end: 0.01 }]);
      const piece = { samples: new Float32Array(2003) };
      await expect(test.engine.hear(piece, { language: null, signal: never })).resolves.toMatchObject({
        utterances: [{ text: 'short' }],
      });
    });

    it('gives text that a database and JSON can keep', async () => {
      test.says([{ text: 'be\u0000fore \u0007 af\u2028ter', start: 0, end: 1 }]);
      await expect(hear()).resolves.toMatchObject({ utterances: [{ text: 'be fore af ter' }] });
    });

    it('tells the language as we write it', async () => {
      test.says([{ text: 'Buenos días', start: 0, end: 1 }], { language: 'Spanish' });
      await expect(hear()).resolves.toMatchObject({ language: 'es' });
      test.says([{ text: 'Саламатсызбы', start: 0, end: 1 }], { language: 'ky' });
      await expect(hear()).resolves.toMatchObject({ language: 'ky' });
    });

    it('refuses a language that is none of ours when there is enough of it, and lets short doubtful pieces pass', async () => {
      test.says([{ text: 'Bonjour, ma commande n’est pas arrivée', start: 0, end: 6 }], { language: 'french' });
      await expect(hear(6)).rejects.toMatchObject({ kind: 'invalid', code: 'LANGUAGE_NOT_SUPPORTED' });
      await expect(hear(1)).resolves.toMatchObject({ language: null, utterances: [{ start: 0 }] });
      await expect(test.engine.hear(pieceOf(6), { language: 'en', signal: never })).resolves.toMatchObject({
        language: null,
      });
    });

    it('hears no more pieces at the same time than it says, and all of them in the end', async () => {
      test.says([{ text: 'one of many', start: 0, end: 1 }], { afterMs: 20 });
      expect(test.engine.concurrency).toBe(2);
      const all = await Promise.all(Array.from({ length: 5 }, () => hear()));
      expect(all.every(({ utterances }) => utterances.length === 1)).toBe(true);
      expect(test.seen().pieces).toBe(5);
      expect(test.seen().mostAtOnce).toBeLessThanOrEqual(2);
    });

    it('fails with a Fault that says it may work later, and hears the next piece', async () => {
      test.fails();
      await expect(hear()).rejects.toMatchObject({ name: 'Fault', kind: 'unavailable' });
      test.says([{ text: 'again', start: 0, end: 1 }]);
      await expect(hear()).resolves.toMatchObject({ utterances: [{ text: 'again' }] });
    });

    it('stops when told to, with the reason that was given and without an answer, and the turn goes to the next', async () => {
      test.hangs();
      const stop = new AbortController();
      const hung = [hear(2, stop.signal), hear(2, stop.signal), hear(2, stop.signal)];
      await untilSeen(2);
      stop.abort(new Error('the call was deleted'));
      for (const each of await Promise.allSettled(hung)) {
        expect(each).toMatchObject({ status: 'rejected', reason: { message: 'the call was deleted' } });
      }
      test.says([{ text: 'again', start: 0, end: 1 }]);
      await expect(hear()).resolves.toMatchObject({ utterances: [{ text: 'again' }] });
      expect(test.seen().pieces).toBe(3);
    });

    it('begins nothing when it was told to stop before', async () => {
      await expect(hear(2, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
      expect(test.seen().pieces).toBe(0);
    });

    it('ends its work and refuses more when closed', async () => {
      test.hangs();
      const hung = Promise.allSettled([hear(), hear(), hear()]);
      await untilSeen(2);
      await test.engine.close();
      for (const each of await hung)
        expect(each).toMatchObject({ reason: { kind: 'unavailable', code: 'ENGINE_UNAVAILABLE' } });
      await expect(hear()).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
      await test.engine.close();
    });

    async function untilSeen(pieces: number): Promise<void> {
      const begun = Date.now();
      while (test.seen().pieces < pieces) {
        if (Date.now() - begun > 50_000) throw new Error(`no ${pieces} pieces after 50 s`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  });
}
