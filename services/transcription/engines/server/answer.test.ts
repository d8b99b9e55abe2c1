import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { interpret, isStuck, readAnswer } from './answer.ts';

/** The scores below are those of Whisper base, run by faster-whisper. */
function segment(text: string, scores: { logprob?: number; silence?: number; ratio?: number } = {}) {
  const { logprob = -0.3, silence = 0.1, ratio = 1.1 } = scores;
  return { start: 0, end: 6, text, avg_logprob: logprob, no_speech_prob: silence, compression_ratio: ratio };
}

describe('the answer of a speech server', () => {
  const texts = (...segments: ReturnType<typeof segment>[]) =>
    interpret({ segments, language: 'en' }, 6, null).utterances.map(({ text }) => text);

  it('keeps real speech, including single and doubtful words', () => {
    for (const speech of [
      segment(' Hello?', { logprob: -0.65, silence: 0.19, ratio: 0.43 }),
      segment(' Yes.', { logprob: -0.9, silence: 0.53, ratio: 0.33 }),
      segment(' Зранствуйте, чем могу помочь.', { logprob: -1.06, silence: 0.34 }),
      segment(' Thank you.', { logprob: -0.64, silence: 0.06 }),
    ]) {
      expect(texts(speech)).toEqual([speech.text.trim()]);
    }
  });

  it('drops what Whisper makes up for silence, a tone or a ringing telephone', () => {
    for (const invented of [
      segment(' You', { logprob: -0.66, silence: 0.93, ratio: 0.27 }),
      segment(' You', { logprob: -0.74, silence: 0.76, ratio: 0.27 }),
      segment(' BEEP', { logprob: -0.73, silence: 0.77, ratio: 1.6 }),
      segment(' .', { logprob: -0.81, silence: 0.71 }),
      segment(' 4-0-0-0-0-0-0', { logprob: -0.06, silence: 0.9, ratio: 17.15 }),
      segment(' Редактор субтитров А.Синецкая Корректор А.Егорова', { logprob: -0.48, silence: 0.5 }),
      segment(' Субтитры сделал DimaTorzok'),
      segment(' Продолжение следует...'),
      segment(' Thanks for watching!'),
      segment(' Subtítulos realizados por la comunidad de Amara.org'),
    ]) {
      expect(texts(invented, segment('Good morning.'))).toEqual(['Good morning.']);
    }
  });

  it('detects a loop when the server reports no compression ratio', () => {
    expect(isStuck({ text: 'yes '.repeat(100) }, 6)).toBe(true);
    expect(isStuck({ text: 'Yes, yes, yes. I have told you so yesterday already.' }, 6)).toBe(false);
  });

  it.each([
    ['French with a high probability', 'fr', segment(' Bonjour, merci de vous rappeler.', { logprob: -0.65 })],
    ['Uzbek written as Thai', 'th', segment('คือหายเกิน อากะเกิน', { logprob: -0.9, silence: 0.5 })],
  ])('refuses %s', (_name, language, speech) => {
    expect(() => interpret({ language, segments: [speech] }, 6, null)).toThrow('not in English');
    expect(interpret({ language, segments: [speech] }, 6, 'uz').language).toBeNull();
  });

  it.each([
    ['Russian taken for Latin', 'latin', segment(' Zrazt, viti, him, gupamoši,', { logprob: -1.15 })],
    ['a language of which the server is unsure', 'welsh', segment(' Mae hi', { logprob: -0.2 })],
    ['noise without words', 'nynorsk', segment(' 4-0-0-0-0-0-0', { logprob: -0.06, ratio: 17 })],
  ])('does not refuse %s', (name, language, speech) => {
    const probability = name.includes('unsure') ? 0.4 : null;
    expect(interpret({ language, segments: [speech], language_probability: probability }, 6, null).language).toBeNull();
  });

  it('is rejected unless it has text or segments', () => {
    for (const body of ['', 'x', '{}', '[]', 'null', '{"text":null}', '{"text":1}', '{"segments":[{}]}'])
      expect(readAnswer(body)).toBeNull();
    for (const body of ['{"text":""}', '{"segments":[]}', '{"text":"x","segments":null,"language":null,"more":1}']) {
      expect(readAnswer(body)).not.toBeNull();
    }
  });

  it.each([
    ['with figures', -0.3, 1.1],
    ['without figures, as older versions', null, null],
  ])(
    "is read in vLLM's shape: a duration in text, no probability of silence, %s",
    (_, avg_logprob, compression_ratio) => {
      const common = { seek: 0, temperature: 0, tokens: [50364], no_speech_prob: null, avg_logprob, compression_ratio };
      const answer = {
        duration: '6.25',
        language: 'ru',
        text: ' Здравствуйте. Чем могу помочь?',
        words: null,
        segments: [
          { id: 0, start: 0, end: 2.5, text: ' Здравствуйте.', ...common },
          { id: 1, start: 2.5, end: 6, text: ' Чем могу помочь?', ...common },
        ],
      };
      const confidence = avg_logprob === null ? {} : { confidence: Math.exp(avg_logprob) };
      expect(interpret(readAnswer(JSON.stringify(answer))!, 6.25, null)).toEqual({
        language: 'ru',
        utterances: [
          { text: 'Здравствуйте.', start: 0, end: 2.5, ...confidence },
          { text: 'Чем могу помочь?', start: 2.5, end: 6, ...confidence },
        ],
      });
    },
  );

  it('yields utterances in order and inside the segment, with any times', () => {
    const odd = fc.record({
      start: fc.double({ noNaN: true }),
      end: fc.double({ noNaN: true }),
      text: fc.string({ unit: 'binary' }),
    });
    fc.assert(
      fc.property(fc.array(odd), fc.double({ min: 0.1, max: 60, noNaN: true }), (segments, seconds) => {
        const { utterances } = interpret({ segments }, seconds, null);
        let last = 0;
        for (const { text, start, end } of utterances) {
          expect(start).toBeGreaterThanOrEqual(last);
          expect(end).toBeGreaterThanOrEqual(start);
          expect(end).toBeLessThanOrEqual(seconds);
          expect(text.isWellFormed()).toBe(true);
          expect(text).not.toMatch(/\p{Cc}/u);
          last = start;
        }
      }),
    );
  });
});
