import { describe, expect, it } from '@jest/globals';
import type { MadeCall } from './calls.ts';
import type { Compared } from './measure.ts';
import { comparisonOf, confidenceTable } from './report.ts';

const call: MadeCall = {
  name: 'en-judging-0',
  language: 'en',
  set: 'en',
  codec: 'PCM',
  speakers: ['allison-en', 'flite:rms'],
  file: '',
  format: 'wav',
  lines: [
    { side: 'left', text: 'one two', start: 0, end: 4, silences: [] },
    { side: 'right', text: 'three four', start: 5, end: 10, silences: [] },
  ],
};

function heardBy(engine: string, left: string, right: string, processor: number): Compared {
  const utterances = [
    { side: 'left' as const, text: left, start: 0, end: 4 },
    { side: 'right' as const, text: right, start: 5, end: 10 },
  ];
  const transcript = { engine, language: 'en' as const, duration: 10, utterances } as unknown as Compared['transcript'];
  return { engine, call, transcript, took: 1, processor, residentBytes: 300 * 1024 * 1024 };
}

describe('confidence', () => {
  it('is judged by the wrong words of utterances below each bound, and of the others', () => {
    const heard = heardBy('base', 'one to', 'three four five', 1);
    const utterances = heard.transcript!.utterances.map((each, at) => ({ ...each, confidence: [0.45, 0.75][at]! }));
    const table = confidenceTable([{ ...heard, transcript: { ...heard.transcript!, utterances } }])!.split('\n');
    expect(table[0]).toBe('| below | of 5 words | of these wrong | of the others wrong | of the wrong words |');
    expect(table.slice(3, 5)).toEqual([
      '| 0.4 | 0.0 % |  | 40.0 % | 0.0 % |',
      '| 0.5 | 40.0 % | 50.0 % | 33.3 % | 50.0 % |',
    ]);
    expect(confidenceTable([heard])).toBe(null);
  });
});

describe('engines are compared', () => {
  it('by the words that are wrong of each kind of voice, and by processor time against the first', () => {
    const table = comparisonOf([
      heardBy('tiny', 'one two', 'three for', 1),
      heardBy('base', 'one two', 'three four', 2),
    ]);
    expect(table.split('\n').slice(0, 4)).toEqual([
      '| model | calls | refused | words wrong | flite | people | times real time a core | of the first | most memory |',
      '|---|---|---|---|---|---|---|---|---|',
      '| tiny | 1 | 0 | 25.0 % | 50.0 % | 0.0 % | 10.0 | 1.00 | 300 MB |',
      '| base | 1 | 0 | 0.0 % | 0.0 % | 0.0 % | 5.0 | 0.50 | 300 MB |',
    ]);
  });
});
