/**
 * The 80-bit floating-point number that AIFF writes sample rates in: sign and exponent, then 64 bits of mantissa whose
 * first is the whole part. What is negative or no number comes back as NaN.
 */
export function readExtendedFloat(view: DataView, at: number): number {
  const exponent = view.getUint16(at);
  if (exponent >= 0x7fff) return Number.NaN;
  return (view.getUint32(at + 2) * 2 ** 32 + view.getUint32(at + 6)) * 2 ** (exponent - 16_383 - 63);
}
