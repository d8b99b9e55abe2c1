export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

export function text(characters: string): Uint8Array {
  return new Uint8Array(Buffer.from(characters, 'latin1'));
}

export function u16(value: number, littleEndian = true): Uint8Array {
  const bytes = new Uint8Array(2);
  new DataView(bytes.buffer).setUint16(0, value, littleEndian);
  return bytes;
}

export function u32(value: number, littleEndian = true): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, littleEndian);
  return bytes;
}

export function u64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true);
  return bytes;
}

/** A RIFF or IFF chunk, padded to an even size. `sizeBytes` may declare a wrong size. */
export function chunk(
  id: string,
  content: Uint8Array,
  { littleEndian = true, sizeBytes = content.length, padded = true } = {},
): Uint8Array {
  const padding = new Uint8Array(padded && content.length % 2 === 1 ? 1 : 0);
  return concat(text(id), u32(sizeBytes, littleEndian), content, padding);
}

export type SampleKind = 'u8' | 's8' | 's16' | 's24' | 's32' | 'f32' | 'f64';

/** Encodes interleaved samples. The values are the stored integers or floats. */
export function encodeSamples(kind: SampleKind, values: readonly number[], littleEndian: boolean): Uint8Array {
  const width = { u8: 1, s8: 1, s16: 2, s24: 3, s32: 4, f32: 4, f64: 8 }[kind];
  const bytes = Buffer.alloc(values.length * width);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (const [index, value] of values.entries()) {
    const at = index * width;
    if (kind === 'u8') bytes.writeUInt8(value, at);
    else if (kind === 'f32') view.setFloat32(at, value, littleEndian);
    else if (kind === 'f64') view.setFloat64(at, value, littleEndian);
    else if (littleEndian) bytes.writeIntLE(value, at, width);
    else bytes.writeIntBE(value, at, width);
  }
  return new Uint8Array(bytes);
}

/** The decoded value of a stored sample, from -1 to 1. */
export function sampleValue(kind: SampleKind, value: number): number {
  if (kind === 'f32' || kind === 'f64') return Math.fround(Math.max(-1, Math.min(1, value)));
  if (kind === 'u8') return (value - 128) / 128;
  return Math.fround(value / 2 ** (Number(kind.slice(1)) - 1));
}
