/**
 * Reads the 80-bit floating-point number in which AIFF stores the sample rate: sign and exponent, then 64 bits of
 * mantissa with an explicit integer bit. NaN for a negative number, an infinity or NaN.
 */
export function readExtendedFloat(view: DataView, at: number): number {
  const exponent = view.getUint16(at);
  if (exponent >= 0x7fff) return Number.NaN;
  return (view.getUint32(at + 2) * 2 ** 32 + view.getUint32(at + 6)) * 2 ** (exponent - 16_383 - 63);
}
