import { HEARING_RATE } from '../engine.ts';

const HEADER_BYTES = 44;

/** A WAV file of one channel at HEARING_RATE, 16-bit PCM: what every recogniser reads. */
export function wavFile(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const file = new Uint8Array(HEADER_BYTES + samples.length * 2);
  const view = new DataView(file.buffer);
  const name = (at: number, text: string) => file.set(Buffer.from(text, 'latin1'), at);
  name(0, 'RIFF');
  view.setUint32(4, file.length - 8, true);
  name(8, 'WAVEfmt ');
  view.setUint32(16, 16, true); // size of the format that follows
  view.setUint16(20, 1, true); // PCM
  view.setUint16(22, 1, true); // channels
  view.setUint32(24, HEARING_RATE, true);
  view.setUint32(28, HEARING_RATE * 2, true); // bytes a second
  view.setUint16(32, 2, true); // bytes a frame
  view.setUint16(34, 16, true); // bits a sample
  name(36, 'data');
  view.setUint32(40, samples.length * 2, true);
  for (let index = 0, at = HEADER_BYTES; index < samples.length; index += 1, at += 2) {
    // setInt16 takes NaN for 0, which is what a hole in the sound should be.
    view.setInt16(at, Math.round(Math.min(1, Math.max(-1, samples[index]!)) * 32_767), true);
  }
  return file;
}
