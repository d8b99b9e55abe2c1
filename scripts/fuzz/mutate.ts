import { type Random } from '../../packages/testing/random.ts';

/** Values at which lengths, counts and offsets often go wrong. */
const EDGES = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];

/**
 * Changes an input in one to six places: bits, bytes, numbers, pieces removed, repeated, moved, cut off, or replaced by a
 * word of the format or by a piece of another input.
 */
export function mutate(input: Buffer, others: readonly Buffer[], words: readonly Buffer[], random: Random): Buffer {
  let bytes: Buffer = Buffer.from(input);
  for (let changes = 1 + random.integer(1 + random.integer(6)); changes > 0; changes--)
    bytes = change(bytes, others, words, random);
  return bytes;
}

function change(bytes: Buffer, others: readonly Buffer[], words: readonly Buffer[], random: Random): Buffer {
  if (bytes.length === 0) return Buffer.from(random.pick(words));
  const at = random.integer(bytes.length);
  const length = 1 + random.integer(Math.min(64, bytes.length - at));
  const replace = (removed: number, by: Uint8Array) =>
    Buffer.concat([bytes.subarray(0, at), by, bytes.subarray(at + removed)]);
  switch (random.integer(9)) {
    case 0:
      bytes[at]! ^= 1 << random.integer(8);
      return bytes;
    case 1:
      bytes[at] = random.integer(256);
      return bytes;
    case 2: {
      const width = random.pick([1, 2, 4].filter((each) => at + each <= bytes.length));
      bytes.writeUIntLE(random.pick(EDGES) % 2 ** (8 * width), at, width);
      return bytes;
    }
    case 3:
      return replace(length, new Uint8Array());
    case 4:
      return replace(0, bytes.subarray(at, at + length));
    case 5: {
      const from = random.integer(bytes.length);
      return replace(length, bytes.subarray(from, from + length));
    }
    case 6:
      return bytes.subarray(0, at);
    case 7:
      return replace(random.integer(2) * length, random.pick(words));
    default: {
      const other = random.pick(others);
      const from = random.integer(other.length);
      return replace(length, other.subarray(from, from + 1 + random.integer(200)));
    }
  }
}
