/**
 * Brings samples within -1 to 1, in place. Decoders of lossy codecs overshoot where the sound was as loud as can be,
 * and what they make of damaged frames may be of any size or no number at all.
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
