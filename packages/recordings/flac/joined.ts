/** The samples of consecutive pieces, channel by channel. */
export function joined(pieces: readonly (readonly Float32Array[])[], channels: number): Float32Array[] {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return [...only];
  const length = pieces.reduce((sum, piece) => sum + (piece[0]?.length ?? 0), 0);
  return Array.from({ length: channels }, (_, channel) => {
    const whole = new Float32Array(length);
    let at = 0;
    for (const piece of pieces) {
      const samples = piece[channel] ?? new Float32Array(0);
      whole.set(samples, at);
      at += samples.length;
    }
    return whole;
  });
}
