import { chunk, concat, text, u16, u32 } from './bytes.ts';

export interface WavShape {
  tag?: number;
  channels?: number;
  sampleRate?: number;
  bits?: number;
  blockBytes?: number;
  bytesPerSecond?: number;
  extension?: Uint8Array;
}

export function fmtChunk(shape: WavShape = {}, littleEndian = true): Uint8Array {
  const { tag = 1, channels = 2, sampleRate = 8000, bits = 16, extension = new Uint8Array(0) } = shape;
  const blockBytes = shape.blockBytes ?? channels * Math.ceil(bits / 8);
  const bytesPerSecond = shape.bytesPerSecond ?? (sampleRate * blockBytes) >>> 0;
  const content = concat(
    u16(tag, littleEndian),
    u16(channels, littleEndian),
    u32(sampleRate, littleEndian),
    u32(bytesPerSecond, littleEndian),
    u16(blockBytes, littleEndian),
    u16(bits, littleEndian),
    extension,
  );
  return chunk('fmt ', content, { littleEndian });
}

/** The part of an extensible format chunk that follows the common fields. */
export function extensible(tag: number, validBits: number): Uint8Array {
  const tail = new Uint8Array(Buffer.from('000000001000800000aa00389b71', 'hex'));
  return concat(u16(22), u16(validBits), u32(3), u16(tag), tail);
}

export function riffWave(...chunks: readonly Uint8Array[]): Uint8Array {
  const content = concat(text('WAVE'), ...chunks);
  return concat(text('RIFF'), u32(content.length), content);
}

export function wavFile(shape: WavShape, data: Uint8Array): Uint8Array {
  return riffWave(fmtChunk(shape), chunk('data', data));
}

export interface AiffShape {
  channels?: number;
  frames?: number;
  bits?: number;
  sampleRate?: number;
  /** The file is AIFF-C if this is given. */
  compression?: string;
}

export function extendedFloat(value: number): Uint8Array {
  if (value === 0) return new Uint8Array(10);
  const exponent = Math.floor(Math.log2(value));
  const mantissa = BigInt(Math.round((value / 2 ** exponent) * 2 ** 52)) << 11n;
  const bytes = new Uint8Array(10);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, exponent + 16_383);
  view.setBigUint64(2, mantissa);
  return bytes;
}

export function commChunk({
  channels = 2,
  frames = 0,
  bits = 16,
  sampleRate = 8000,
  compression,
}: AiffShape): Uint8Array {
  const compressed = compression === undefined ? [] : [text(compression), text('\0\0')];
  const content = concat(
    u16(channels, false),
    u32(frames, false),
    u16(bits, false),
    extendedFloat(sampleRate),
    ...compressed,
  );
  return chunk('COMM', content, { littleEndian: false });
}

export function ssndChunk(
  data: Uint8Array,
  options: { offset?: number; sizeBytes?: number; padded?: boolean } = {},
): Uint8Array {
  const { offset = 0, padded = true } = options;
  const sizeBytes = options.sizeBytes ?? 8 + offset + data.length;
  const content = concat(u32(offset, false), u32(0, false), new Uint8Array(offset), data);
  return chunk('SSND', content, { littleEndian: false, sizeBytes, padded });
}

export function iffForm(kind: 'AIFF' | 'AIFC', ...chunks: readonly Uint8Array[]): Uint8Array {
  const content = concat(text(kind), ...chunks);
  return concat(text('FORM'), u32(content.length, false), content);
}

export function aiffFile(shape: AiffShape, data: Uint8Array): Uint8Array {
  const kind = shape.compression === undefined ? 'AIFF' : 'AIFC';
  return iffForm(kind, commChunk(shape), ssndChunk(data));
}

interface AuShape {
  encoding?: number;
  sampleRate?: number;
  channels?: number;
  sizeBytes?: number;
  headerBytes?: number;
  littleEndian?: boolean;
}

export function auFile(shape: AuShape, data: Uint8Array): Uint8Array {
  const { encoding = 3, sampleRate = 8000, channels = 2, headerBytes = 24, littleEndian = false } = shape;
  const fields = [headerBytes, shape.sizeBytes ?? data.length, encoding, sampleRate, channels];
  return concat(
    text(littleEndian ? 'dns.' : '.snd'),
    ...fields.map((field) => u32(field, littleEndian)),
    new Uint8Array(Math.max(0, headerBytes - 24)),
    data,
  );
}
