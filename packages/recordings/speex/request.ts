import type { PacketBits } from './packet-bits.ts';
import type { IntensityStereo } from './stereo.ts';

const STEREO = 9;

/** Bits of the body of an in-band request, by its number. */
function bodyBits(request: number): number {
  if (request < 2) return 1;
  if (request < 8) return 4;
  if (request < 10) return 8;
  if (request < 12) return 16;
  return request < 14 ? 32 : 64;
}

/** Obeys the request for stereo; the others speak to encoders or to applications. */
export function takeRequest(bits: PacketBits, stereo: IntensityStereo): void {
  const request = bits.take(4);
  if (request === STEREO) stereo.take(bits);
  else bits.skip(bodyBits(request));
}

/** An application's own message: its length, a type that is no business of ours, that many bytes. */
export function skipMessage(bits: PacketBits): void {
  const bytes = bits.take(4);
  bits.skip(5 + 8 * bytes);
}
