/** Integer samples during decoding; Float64Array where 32 bits are too few. */
export type Samples = Int32Array | Float64Array;

/** Thrown when the bytes end within a value. */
export class OutOfBits extends Error {}

/** Reads big-endian values of any bit width. */
export class Bits {
  readonly #bytes: Uint8Array;
  /** Position in bits. */
  #at: number;

  constructor(bytes: Uint8Array, startByte = 0) {
    this.#bytes = bytes;
    this.#at = startByte * 8;
  }

  /** An unsigned value of 0 to 32 bits. */
  unsigned(width: number): number {
    if (width > 24) {
      const high = this.unsigned(width - 16);
      return high * 65_536 + this.unsigned(16);
    }
    if (width === 0) return 0;
    const bytes = this.#bytes;
    const byte = this.#at >>> 3;
    const end = (this.#at & 7) + width;
    if (byte * 8 + end > bytes.length * 8) throw new OutOfBits();
    const word =
      ((bytes[byte] ?? 0) << 24) |
      ((bytes[byte + 1] ?? 0) << 16) |
      ((bytes[byte + 2] ?? 0) << 8) |
      (bytes[byte + 3] ?? 0);
    this.#at += width;
    return (word << (end - width)) >>> (32 - width);
  }

  /** A two's complement value of 0 to 33 bits. */
  signed(width: number): number {
    if (width > 32) return this.signed(width - 16) * 65_536 + this.unsigned(16);
    if (width === 0) return 0;
    const value = this.unsigned(width);
    return value >= 2 ** (width - 1) ? value - 2 ** width : value;
  }

  /** The number of zeros before the next one bit; reads that bit too. */
  zeros(): number {
    const bytes = this.#bytes;
    let count = 0;
    let byte = this.#at >>> 3;
    let rest = ((bytes[byte] ?? 0) << (this.#at & 7)) & 0xff;
    let left = 8 - (this.#at & 7);
    while (rest === 0) {
      count += left;
      byte++;
      if (byte >= bytes.length) throw new OutOfBits();
      rest = bytes[byte] ?? 0;
      left = 8;
    }
    const leading = Math.clz32(rest) - 24;
    count += leading;
    this.#at = byte * 8 + (8 - left) + leading + 1;
    return count;
  }

  /** Reads the Rice-coded residuals of one partition into `out`, from index `from` up to but not including `to`. */
  rice(parameter: number, out: Samples, from: number, to: number): void {
    const bytes = this.#bytes;
    const fast = bytes.length - 4;
    for (let index = from; index < to; index++) {
      const byte = this.#at >>> 3;
      if (byte <= fast) {
        // One word has at least 25 bits left, which nearly always hold the complete value.
        const word =
          (((bytes[byte] ?? 0) << 24) |
            ((bytes[byte + 1] ?? 0) << 16) |
            ((bytes[byte + 2] ?? 0) << 8) |
            (bytes[byte + 3] ?? 0)) <<
          (this.#at & 7);
        const zeros = Math.clz32(word);
        const width = zeros + 1 + parameter;
        if (width <= 25) {
          const low = parameter === 0 ? 0 : (word << (zeros + 1)) >>> (32 - parameter);
          const folded = (zeros << parameter) | low;
          out[index] = (folded >>> 1) ^ -(folded & 1);
          this.#at += width;
          continue;
        }
      }
      const folded = this.zeros() * 2 ** parameter + this.unsigned(parameter);
      out[index] = folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
    }
  }

  /** Moves on to the next byte boundary and returns its byte offset. */
  align(): number {
    this.#at = (this.#at + 7) & ~7;
    return this.#at >>> 3;
  }
}

const CRC8 = tableOf(8, 0x07);
const CRC16 = tableOf(16, 0x8005);

/** The checksum of a frame header. */
export function crc8(bytes: Uint8Array, start: number, end: number): number {
  let crc = 0;
  for (let at = start; at < end; at++) crc = CRC8[crc ^ (bytes[at] ?? 0)] ?? 0;
  return crc;
}

/** The checksum of a complete frame. */
export function crc16(bytes: Uint8Array, start: number, end: number): number {
  let crc = 0;
  for (let at = start; at < end; at++) crc = ((crc << 8) & 0xffff) ^ (CRC16[(crc >> 8) ^ (bytes[at] ?? 0)] ?? 0);
  return crc;
}

function tableOf(width: 8 | 16, polynomial: number): Uint16Array {
  const top = 1 << (width - 1);
  const mask = (1 << width) - 1;
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << (width - 8);
    for (let bit = 0; bit < 8; bit++) crc = ((crc & top) !== 0 ? (crc << 1) ^ polynomial : crc << 1) & mask;
    return crc;
  });
}
