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

/** Joins consecutive pieces of samples, channel by channel. */
export function concatChannels(pieces: readonly (readonly Float32Array[])[], channels: number): Float32Array[] {
  const length = pieces.reduce((sum, piece) => sum + (piece[0]?.length ?? 0), 0);
  return Array.from({ length: channels }, (_, channel) => {
    const all = new Float32Array(length);
    let offset = 0;
    for (const piece of pieces) {
      const samples = piece[channel] ?? new Float32Array(0);
      all.set(samples, offset);
      offset += samples.length;
    }
    return all;
  });
}
