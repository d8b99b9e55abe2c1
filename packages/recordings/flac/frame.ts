import { Bits, crc16, OutOfBits, type Samples } from './bits.ts';
import { type FrameHeader, frameHeader, type StreamInfo } from './frame-header.ts';

export interface Frame {
  readonly header: FrameHeader;
  readonly sizeBytes: number;
  /** From -1 to 1. */
  readonly channels: readonly Float32Array[];
}

/** `short`: the bytes may be the beginning of a frame. `broken`: they cannot be a frame. */
type NoFrame = 'short' | 'broken';

/** Decodes the frame that begins at `at`. */
export function readFrame(bytes: Uint8Array, at: number, info: StreamInfo): Frame | NoFrame {
  const header = frameHeader(bytes, at, info);
  if (header === null) return bytes.length - at < 16 ? 'short' : 'broken';
  if (header.channels !== info.channels || header.samples > info.maxBlockSamples) return 'broken';
  try {
    const bits = new Bits(bytes.subarray(at), header.sizeBytes);
    const coded: Samples[] = [];
    for (let channel = 0; channel < header.channels; channel++) {
      const width = header.bitsPerSample + (isSide(header, channel) ? 1 : 0);
      const samples = readSubframe(bits, width, header.samples);
      if (samples === null) return 'broken';
      coded.push(samples);
    }
    const end = at + bits.align();
    if (end + 2 > bytes.length) return 'short';
    if (crc16(bytes, at, end + 2) !== 0) return 'broken';
    uncouple(header, coded);
    const scale = 2 ** (1 - header.bitsPerSample);
    return { header, sizeBytes: end + 2 - at, channels: coded.map((samples) => scaled(samples, scale)) };
  } catch (error) {
    if (error instanceof OutOfBits) return 'short';
    throw error;
  }
}

function isSide({ coupling }: FrameHeader, channel: number): boolean {
  return coupling !== 'none' && channel === (coupling === 'side-right' ? 0 : 1);
}

/** Restores the two channels from their sum or difference. */
function uncouple({ coupling }: FrameHeader, [first, second]: readonly Samples[]): void {
  if (coupling === 'none' || first === undefined || second === undefined) return;
  for (let index = 0; index < first.length; index++) {
    const a = first[index] ?? 0;
    const b = second[index] ?? 0;
    if (coupling === 'left-side') {
      second[index] = a - b;
    } else if (coupling === 'side-right') {
      first[index] = a + b;
    } else {
      // The encoder drops the lowest bit of the sum because it equals that of the difference.
      const left = Math.floor((2 * a + (b & 1) + b) / 2);
      first[index] = left;
      second[index] = left - b;
    }
  }
}

function scaled(samples: Samples, scale: number): Float32Array {
  const out = new Float32Array(samples.length);
  for (let index = 0; index < out.length; index++) out[index] = (samples[index] ?? 0) * scale;
  return out;
}

/** The largest width of sums that 32-bit arithmetic can hold. */
const WORD = 32;

const CONSTANT = 0;
const VERBATIM = 1;

/** Reads one channel of one frame (RFC 9639, section 9.2) with `width` bits per sample; null when it is damaged. */
function readSubframe(bits: Bits, width: number, count: number): Samples | null {
  if (bits.unsigned(1) !== 0) return null;
  const type = bits.unsigned(6);
  const wasted = bits.unsigned(1) === 1 ? bits.zeros() + 1 : 0;
  width -= wasted;
  if (width < 1) return null;

  // The sum of two channels is one bit wider, so a width of 31 leaves room for restoring them.
  const samples = width + wasted < WORD ? new Int32Array(count) : new Float64Array(count);
  if (!readSamples(bits, type, width, samples)) return null;
  if (wasted > 0) {
    for (let index = 0; index < count; index++) samples[index] = (samples[index] ?? 0) * 2 ** wasted;
  }
  return samples;
}

function readSamples(bits: Bits, type: number, width: number, samples: Samples): boolean {
  if (type === CONSTANT) {
    samples.fill(bits.signed(width));
    return true;
  }
  if (type === VERBATIM) {
    for (let index = 0; index < samples.length; index++) samples[index] = bits.signed(width);
    return true;
  }
  if (type >= 8 && type <= 12) return readFixed(bits, type - 8, width, samples);
  if (type >= 32) return readLinear(bits, type - 31, width, samples);
  return false;
}

function readFixed(bits: Bits, order: number, width: number, samples: Samples): boolean {
  if (!readWarmUp(bits, order, width, samples) || !readResidual(bits, order, samples)) return false;
  for (let index = order; index < samples.length; index++) {
    const a = samples[index - 1] ?? 0;
    const b = samples[index - 2] ?? 0;
    const c = samples[index - 3] ?? 0;
    const d = samples[index - 4] ?? 0;
    const residual = samples[index] ?? 0;
    if (order === 1) samples[index] = residual + a;
    else if (order === 2) samples[index] = residual + 2 * a - b;
    else if (order === 3) samples[index] = residual + 3 * (a - b) + c;
    else if (order === 4) samples[index] = residual + 4 * (a + c) - 6 * b - d;
  }
  return true;
}

function readLinear(bits: Bits, order: number, width: number, samples: Samples): boolean {
  if (!readWarmUp(bits, order, width, samples)) return false;
  const precision = bits.unsigned(4) + 1;
  const shift = bits.signed(5);
  if (precision === 16 || shift < 0) return false;
  const coefficients = Int32Array.from({ length: order }, () => bits.signed(precision));
  if (!readResidual(bits, order, samples)) return false;
  const narrow = samples instanceof Int32Array && width + precision + Math.ceil(Math.log2(order)) <= WORD;
  if (narrow) predictNarrow(samples, coefficients, shift);
  else predictWide(samples, coefficients, shift);
  return true;
}

function predictNarrow(samples: Int32Array, coefficients: Int32Array, shift: number): void {
  const order = coefficients.length;
  for (let index = order; index < samples.length; index++) {
    let sum = 0;
    for (let back = 0; back < order; back++) {
      sum = (sum + Math.imul(coefficients[back] as number, samples[index - 1 - back] as number)) | 0;
    }
    samples[index] = (samples[index] as number) + (sum >> shift);
  }
}

/** A double holds the sums exactly: they take at most 53 bits, 33 for a sample, 15 for a coefficient, 5 for the order. */
function predictWide(samples: Samples, coefficients: Int32Array, shift: number): void {
  const order = coefficients.length;
  const scale = 2 ** -shift;
  for (let index = order; index < samples.length; index++) {
    let sum = 0;
    for (let back = 0; back < order; back++)
      sum += (coefficients[back] as number) * (samples[index - 1 - back] as number);
    samples[index] = (samples[index] as number) + Math.floor(sum * scale);
  }
}

function readWarmUp(bits: Bits, order: number, width: number, samples: Samples): boolean {
  if (order > samples.length) return false;
  for (let index = 0; index < order; index++) samples[index] = bits.signed(width);
  return true;
}

function readResidual(bits: Bits, order: number, samples: Samples): boolean {
  const method = bits.unsigned(2);
  if (method > 1) return false;
  const parameterBits = method === 0 ? 4 : 5;
  const escape = 2 ** parameterBits - 1;
  const partitions = 1 << bits.unsigned(4);
  const each = samples.length / partitions;
  if (!Number.isInteger(each) || each < order) return false;
  for (let partition = 0, from = order; partition < partitions; partition++) {
    const to = (partition + 1) * each;
    const parameter = bits.unsigned(parameterBits);
    if (parameter === escape) {
      const width = bits.unsigned(5);
      for (let index = from; index < to; index++) samples[index] = bits.signed(width);
    } else {
      bits.rice(parameter, samples, from, to);
    }
    from = to;
  }
  return true;
}
