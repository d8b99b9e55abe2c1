import { wavHeader } from '@call-analysis/testing';

/** A silent stereo WAV of 16 bits at 8 kHz. */
export function silence(seconds: number): Buffer {
  const samples = Buffer.alloc(4 * 8000 * seconds);
  return Buffer.concat([wavHeader({ channels: 2, dataBytes: samples.length }), samples]);
}
