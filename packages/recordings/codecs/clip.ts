/**
 * Limits samples to -1 to 1, in place; a sample that is not a number becomes 0. Lossy decoders overshoot at full scale,
 * and damaged frames may decode to any value.
 */
export function clip(channels: readonly Float32Array[]): void {
  for (const samples of channels) {
    for (let index = 0; index < samples.length; index++) {
      const sample = samples[index] as number;
      if (sample >= -1 && sample <= 1) continue;
      samples[index] = sample > 1 ? 1 : sample < -1 ? -1 : 0;
    }
  }
}
