import { HEARING_RATE } from '../../engine.ts';
import { meanSquare } from '../mean-square.ts';
import { type VoiceActivity, WINDOW } from '../speech-detector.ts';

/** Something like a voice: syllables of noise, never the same for two seeds. Sounds only between `from` and `to` seconds. */
export function voice(
  seconds: number,
  seed: number,
  spoken: readonly (readonly [from: number, to: number])[] = [[0, seconds]],
): Float32Array {
  const samples = new Float32Array(Math.round(seconds * HEARING_RATE));
  let state = seed * 40_503 + 1;
  let smooth = 0;
  for (const [from, to] of spoken) {
    const end = Math.min(Math.round(to * HEARING_RATE), samples.length);
    for (let at = Math.round(from * HEARING_RATE); at < end; at++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
      smooth += 0.35 * (state / 2 ** 31 - smooth);
      const syllables = 0.6 + 0.4 * Math.sin((2 * Math.PI * (3 + (seed % 3)) * at) / HEARING_RATE + seed);
      samples[at] = 0.4 * syllables * smooth;
    }
  }
  return samples;
}

/** Much faster than what a test framework does with a hundred thousand numbers. */
export function areEqual(one: Float32Array, other: Float32Array): boolean {
  return Buffer.from(one.buffer, one.byteOffset, one.byteLength).equals(
    Buffer.from(other.buffer, other.byteOffset, other.byteLength),
  );
}

export function mix(
  ...parts: readonly (readonly [samples: Float32Array, gain: number, delaySeconds?: number])[]
): Float32Array {
  const mixed = new Float32Array(Math.max(...parts.map(([samples]) => samples.length)));
  for (const [samples, gain, delaySeconds = 0] of parts) {
    const delay = Math.round(delaySeconds * HEARING_RATE);
    for (let at = 0; at + delay < mixed.length && at < samples.length; at++) mixed[at + delay]! += gain * samples[at]!;
  }
  return mixed;
}

/** Hears a voice wherever there is sound, at once, and its end after 0.3 s. */
export function loudness(): VoiceActivity {
  const patience = Math.ceil((0.3 * HEARING_RATE) / WINDOW);
  let quietFor = patience;
  return {
    lateToBegin: WINDOW,
    lateToEnd: patience * WINDOW,
    accept(window) {
      quietFor = meanSquare(window) > 1e-6 ? 0 : quietFor + 1;
      return quietFor < patience;
    },
    reset() {},
  };
}
