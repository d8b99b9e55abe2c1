import { type FileHandle, open } from 'node:fs/promises';

/** Field numbers of ONNX's ModelProto and StringStringEntryProto. */
const METADATA = 14;
const [KEY, VALUE] = [1, 2];
const [VARINT, FIXED64, BYTES, FIXED32] = [0, 1, 2, 5];
const MAX_ENTRY_BYTES = 64 * 1024;
const MAX_FIELDS = 10_000;

/**
 * The metadata of an ONNX file: names and values that converters for sherpa-onnx write. Reads past the weights, which are
 * one field, so it takes no memory. Empty for a file of another format.
 */
export async function onnxMetadata(file: string): Promise<Map<string, string>> {
  const metadata = new Map<string, string>();
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    let at = 0;
    for (let field = 0; at < size && field < MAX_FIELDS; field++) {
      const { value: tag, end } = await varint(handle, at);
      const number = Math.floor(tag / 8);
      switch (tag % 8) {
        case VARINT:
          at = (await varint(handle, end)).end;
          break;
        case FIXED64:
          at = end + 8;
          break;
        case FIXED32:
          at = end + 4;
          break;
        case BYTES: {
          const { value: length, end: start } = await varint(handle, end);
          if (number === METADATA && length <= MAX_ENTRY_BYTES) {
            const [key, value] = entryOf(await read(handle, start, length));
            metadata.set(key, value);
          }
          at = start + length;
          break;
        }
        default:
          return metadata;
      }
    }
  } finally {
    await handle.close();
  }
  return metadata;
}

function entryOf(bytes: Buffer): [key: string, value: string] {
  const strings: Record<number, string> = {};
  for (let at = 0; at < bytes.length;) {
    const number = bytes[at]! >> 3;
    const { value: length, end } = varintIn(bytes, at + 1);
    strings[number] = bytes.toString('utf8', end, end + length);
    at = end + length;
  }
  return [strings[KEY] ?? '', strings[VALUE] ?? ''];
}

async function varint(handle: FileHandle, at: number): Promise<{ value: number; end: number }> {
  const { value, end } = varintIn(await read(handle, at, 10), 0);
  return { value, end: at + end };
}

function varintIn(bytes: Buffer, start: number): { value: number; end: number } {
  let value = 0;
  for (let at = start; at < bytes.length; at++) {
    value += (bytes[at]! & 0x7f) * 2 ** (7 * (at - start));
    if (bytes[at]! < 0x80) return { value, end: at + 1 };
  }
  // The end of the file, or no such number: nothing follows that could be read.
  return { value: 7, end: Number.MAX_SAFE_INTEGER };
}

async function read(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await handle.read(bytes, 0, length, at);
  return bytes.subarray(0, bytesRead);
}
