import type { PacketBits } from './packet-bits.ts';

/** Shapes that a stretch of innovation is put together from, one after another. */
export interface Shapes {
  /** Samples of one shape. */
  readonly length: number;
  readonly indexBits: number;
  /** Whether a bit before the index turns the shape over. */
  readonly isSigned: boolean;
  /** In 1/32. */
  readonly entries: Int8Array;
}

/** Adds `count` samples of coded innovation, times `scale`, to `into` from `start` on. */
export function addShapes(
  bits: PacketBits,
  shapes: Shapes,
  scale: number,
  into: Float64Array,
  start: number,
  count: number,
): void {
  for (let at = start; at < start + count; at += shapes.length) {
    const sign = shapes.isSigned && bits.take(1) === 1 ? -1 : 1;
    const entry = bits.take(shapes.indexBits) * shapes.length;
    for (let i = 0; i < shapes.length; i += 1) into[at + i]! += (sign * scale * shapes.entries[entry + i]!) / 32;
  }
}
