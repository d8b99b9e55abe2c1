import * as fc from 'fast-check';

/** Values at which lengths, counts and offsets often go wrong. */
const EDGES = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];
const MOST_REMOVED = 64;

/** A change in one place, which is taken modulo the length of the input. */
type Change = { readonly at: number } & (
  | { readonly bit: number }
  | { readonly number: number; readonly width: 1 | 2 | 4 }
  | { readonly removed: number; readonly inserted: Buffer }
  | { readonly repeated: number }
  | { readonly isEnd: true }
);

/**
 * One of the inputs with one to six changes: bits, numbers, pieces removed, repeated, cut off, or replaced by a word of the format
 * or by a piece of another input.
 */
export function mutated(inputs: readonly Buffer[], words: readonly Buffer[]): fc.Arbitrary<Buffer> {
  const at = fc.nat();
  const removed = fc.integer({ min: 0, max: MOST_REMOVED });
  const pieces = fc
    .tuple(fc.constantFrom(...inputs), fc.nat(), fc.integer({ min: 1, max: 200 }))
    .map(([input, from, length]) => input.subarray(from % input.length).subarray(0, length));
  const inserted = fc.oneof(fc.constant(Buffer.alloc(0)), fc.constantFrom(...words), pieces);
  const change: fc.Arbitrary<Change> = fc.oneof(
    fc.record({ at, bit: fc.nat(7) }),
    fc.record({ at, number: fc.constantFrom(...EDGES), width: fc.constantFrom(1, 2, 4) }),
    fc.record({ at, removed, inserted }),
    fc.record({ at, repeated: fc.integer({ min: 1, max: MOST_REMOVED }) }),
    fc.record({ at, isEnd: fc.constant(true as const) }),
  );
  return fc
    .tuple(fc.constantFrom(...inputs), fc.array(change, { minLength: 1, maxLength: 6 }))
    .map(([input, changes]) => changes.reduce<Buffer>(changed, Buffer.from(input)));
}

function changed(bytes: Buffer, change: Change): Buffer {
  const at = bytes.length === 0 ? 0 : change.at % bytes.length;
  const replaced = (removed: number, by: Uint8Array) =>
    Buffer.concat([bytes.subarray(0, at), by, bytes.subarray(at + removed)]);
  if ('bit' in change) return replaced(1, Buffer.of((bytes[at] ?? 0) ^ (1 << change.bit)));
  if ('repeated' in change) return replaced(0, bytes.subarray(at, at + change.repeated));
  if ('isEnd' in change) return bytes.subarray(0, at);
  if ('removed' in change) return replaced(change.removed, change.inserted);
  const number = Buffer.alloc(change.width);
  number.writeUIntLE(change.number % 2 ** (8 * change.width), 0, change.width);
  return replaced(change.width, number);
}
