import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { wavFile } from './wav-file.ts';

describe('the WAV file for recognizers', () => {
  it('has the header of 16-bit PCM, one channel, 16 kHz', () => {
    const file = Buffer.from(wavFile(new Float32Array(3)));
    expect(file.toString('hex')).toBe(
      // RIFF, size, WAVE, fmt, size; PCM, channels, rate, bytes a second, bytes a frame, bits; data, size, samples.
      [
        ['52494646', '2a000000', '57415645', '666d7420', '10000000'],
        ['0100', '0100', '803e0000', '007d0000', '0200', '1000'],
        ['64617461', '06000000', '000000000000'],
      ]
        .flat()
        .join(''),
    );
  });

  it('keeps every sample to half a step, clips samples beyond full scale, and writes NaN as silence', () => {
    const sample = fc.oneof(fc.float(), fc.float({ min: -1, max: 1, noNaN: true }));
    fc.assert(
      fc.property(fc.array(sample), (samples) => {
        const file = Buffer.from(wavFile(Float32Array.from(samples)));
        expect(file.length).toBe(44 + 2 * samples.length);
        for (const [index, given] of samples.entries()) {
          const expected = Number.isNaN(given) ? 0 : Math.min(1, Math.max(-1, given));
          expect(Math.abs(file.readInt16LE(44 + 2 * index) - expected * 32_767)).toBeLessThanOrEqual(0.5001);
        }
      }),
    );
  });
});
