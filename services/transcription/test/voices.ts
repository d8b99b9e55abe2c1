import { meanSquare } from '../audio/sample-buffer.ts';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { type VoiceActivity, WINDOW } from '../segmentation/speech-detector.ts';

/** Syllables of noise that resemble a voice; each seed gives another voice. There is sound only between `from` and `to` seconds. */
export function voice(
  seconds: number,
  seed: number,
  spoken: readonly (readonly [from: number, to: number])[] = [[0, seconds]],
): Float32Array {
  const samples = new Float32Array(Math.round(seconds * SAMPLE_RATE_HZ));
  let state = seed * 40_503 + 1;
  let smooth = 0;
  for (const [from, to] of spoken) {
    const end = Math.min(Math.round(to * SAMPLE_RATE_HZ), samples.length);
    for (let at = Math.round(from * SAMPLE_RATE_HZ); at < end; at++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
      smooth += 0.35 * (state / 2 ** 31 - smooth);
      const syllables = 0.6 + 0.4 * Math.sin((2 * Math.PI * (3 + (seed % 3)) * at) / SAMPLE_RATE_HZ + seed);
      samples[at] = 0.4 * syllables * smooth;
    }
  }
  return samples;
}

/** Compares bytes, which is much faster than `toEqual` for a hundred thousand numbers. */
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
    const delay = Math.round(delaySeconds * SAMPLE_RATE_HZ);
    for (let at = 0; at + delay < mixed.length && at < samples.length; at++) mixed[at + delay]! += gain * samples[at]!;
  }
  return mixed;
}

/** Detects speech wherever there is sound, without delay, and its end after 0.3 s. */
export function loudnessActivity(): VoiceActivity {
  const endWindows = Math.ceil((0.3 * SAMPLE_RATE_HZ) / WINDOW);
  let quietFor = endWindows;
  return {
    startDelay: WINDOW,
    endDelay: endWindows * WINDOW,
    accept(window) {
      quietFor = meanSquare(window) > 1e-6 ? 0 : quietFor + 1;
      return quietFor < endWindows;
    },
    reset() {},
  };
}
