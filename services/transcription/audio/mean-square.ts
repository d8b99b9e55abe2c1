/** The power of the samples: 1 at full scale, 0 for none. Its square root is the loudness (RMS). */
export function meanSquare(samples: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < samples.length; at++) sum += samples[at]! * samples[at]!;
  return samples.length === 0 ? 0 : sum / samples.length;
}
