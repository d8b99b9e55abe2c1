import { describe, expect, it } from '@jest/globals';
import type { Side } from '../audio/stereo.ts';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { LanguageListener } from './language-listener.ts';

/** The lengths, in seconds, of what is identified in segments of these lengths. */
function identified(segments: readonly (readonly [side: Side, seconds: number])[]): string[] {
  const lengths: number[] = [];
  const listener = new LanguageListener((samples) => {
    lengths.push(samples.length / SAMPLE_RATE_HZ);
    return { language: 'en', probability: 0.95, english: 0.95 };
  });
  for (const [side, seconds] of segments) listener.add(new Float32Array(seconds * SAMPLE_RATE_HZ), side);
  listener.finish();
  return listener.identified.map(({ side }, at) => `${side} ${lengths[at]}`);
}

describe('the languages of a recording are identified', () => {
  it('from eight seconds of speech of one party', () => {
    expect(
      identified([
        ['left', 3],
        ['right', 5],
        ['left', 3],
        ['right', 4],
        ['left', 3],
      ]),
    ).toEqual(['right 8', 'left 8']);
  });

  it('from what there is at the end, of three seconds or more', () => {
    expect(
      identified([
        ['left', 4],
        ['right', 2],
      ]),
    ).toEqual(['left 4']);
    expect(
      identified([
        ['left', 20],
        ['left', 2],
      ]),
    ).toEqual(['left 8']);
  });

  it('from both parties together when neither says enough', () => {
    expect(
      identified([
        ['left', 2],
        ['right', 1.5],
      ]),
    ).toEqual(['left 3.5']);
    expect(
      identified([
        ['left', 1],
        ['right', 1.5],
      ]),
    ).toEqual([]);
    expect(identified([])).toEqual([]);
  });

  it('at the beginning, and then once a minute, so that a later change of language is detected', () => {
    const segments = Array.from({ length: 24 }, () => ['left', 10] as const);
    // Three windows of the first 30 s, then one after every 60 s.
    expect(identified(segments)).toEqual(Array.from({ length: 6 }, () => 'left 8'));
  });

  it('a second time from twelve seconds of each party, and from six seconds of each together', () => {
    const lengths: number[] = [];
    const listener = new LanguageListener((samples) => {
      lengths.push(samples.length / SAMPLE_RATE_HZ);
      return { language: 'en', probability: 0.95, english: 0.95 };
    });
    for (const [side, seconds] of [
      ['left', 10],
      ['right', 5],
      ['left', 20],
      ['right', 2],
    ] as const)
      listener.add(new Float32Array(seconds * SAMPLE_RATE_HZ), side);
    lengths.length = 0;
    expect(listener.listenLonger().map(({ side }, at) => `${side} ${lengths[at]}`)).toEqual([
      'left 12',
      'right 7',
      'left 12',
    ]);
  });

  it('a second time once when there is one party', () => {
    const listener = new LanguageListener(() => ({ language: 'en', probability: 0.95, english: 0.95 }));
    listener.add(new Float32Array(30 * SAMPLE_RATE_HZ), 'left');
    expect(listener.listenLonger()).toHaveLength(1);
  });
});
