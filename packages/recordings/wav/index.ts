import { type Chunk, chunksFrom, endOfSamples, UNKNOWN_SIZE } from '../chunks.ts';
import { notOfFormat, unreadable } from '../faults.ts';
import { fourCharacters, HeaderReader } from '../header-reader.ts';
import { mp3 } from '../mp3/index.ts';
import type { Container, Source } from '../recording.ts';
import { decodeSound, infoOf, type Sound, sound } from '../sound.ts';
import { partOf } from '../source.ts';
import { codecOf, FORMAT_CHUNK_BYTES, MP3_TAG, readFormat, type WavFormat } from './format-chunk.ts';

/**
 * RIFF WAVE: also big-endian as RIFX, and beyond 4 GiB as RF64 (EBU Tech 3306) or BW64 (ITU-R BS.2088). The wavefile
 * package serves as an oracle in tests alone: it holds a file whole, throws at odd headers, knows neither MS ADPCM nor
 * IMA ADPCM of two channels, and loses the last block of one.
 */
export const wav: Container = {
  format: 'wav',
  async probe(source) {
    const found = await open(source);
    if (found.mp3) return { ...(await mp3.probe(found.mp3)), format: 'wav' };
    return infoOf('wav', found.sound);
  },
  async *decode(source) {
    const found = await open(source);
    if (found.mp3) yield* mp3.decode(found.mp3);
    else yield* decodeSound(source, found.sound);
  },
};

type Found = { readonly mp3: Source; readonly sound: null } | { readonly mp3: null; readonly sound: Sound };

async function open(source: Source): Promise<Found> {
  const { format, start, end, saidFrames } = await readChunks(source);
  if (format.tag === MP3_TAG) return { mp3: partOf(source, start, end), sound: null };
  const codec = codecOf(format);
  const { channels, sampleRate } = format;
  return { mp3: null, sound: sound({ codec, channels, sampleRate, start, end }, saidFrames) };
}

interface Chunks {
  readonly format: WavFormat;
  readonly start: number;
  readonly end: number;
  readonly saidFrames: number | null;
}

const KINDS = ['RIFF', 'RIFX', 'RF64', 'BW64'];

/** Walks the chunks until format and samples are found, in whichever order. */
async function readChunks(source: Source): Promise<Chunks> {
  const reader = new HeaderReader(source);
  const header = await reader.read(0, 12);
  const kind = fourCharacters(header);
  if (!KINDS.includes(kind) || fourCharacters(header, 8) !== 'WAVE') throw notOfFormat('wav');
  const littleEndian = kind !== 'RIFX';

  let format: WavFormat | null = null;
  let data: { start: number; end: number } | null = null;
  let saidFrames: number | null = null;
  let largeDataBytes: number | null = null;
  const sizeOf = (id: string, said: number): number =>
    id === 'data' && said === UNKNOWN_SIZE && largeDataBytes !== null ? largeDataBytes : said;

  for await (const chunk of chunksFrom(reader, 12, { littleEndian, sizeOf })) {
    if (chunk.id === 'ds64') largeDataBytes ??= await readLargeSize(reader, chunk);
    else if (chunk.id === 'fact') saidFrames ??= await readFrames(reader, chunk, littleEndian);
    else if (chunk.id === 'fmt ') {
      const length = Math.min(chunk.sizeBytes, FORMAT_CHUNK_BYTES);
      format ??= readFormat(await reader.read(chunk.start, length), littleEndian);
    } else if (chunk.id === 'data' && !data) {
      const end = await endOfSamples(reader, chunk.start, chunk.sizeBytes, littleEndian);
      data = { start: chunk.start, end };
    }
    if (format && data) return { format, ...data, saidFrames };
  }
  if (format) codecOf(format);
  throw unreadable(`The WAV file has no ${format ? 'samples: its data' : 'format: its fmt'} chunk is missing.`);
}

/** The second field, after the size of the whole file. */
async function readLargeSize(reader: HeaderReader, chunk: Chunk): Promise<number | null> {
  const view = await reader.read(chunk.start, 16);
  return view.byteLength === 16 ? Number(view.getBigUint64(8, true)) : null;
}

async function readFrames(reader: HeaderReader, chunk: Chunk, littleEndian: boolean): Promise<number | null> {
  const view = await reader.read(chunk.start, 4);
  return view.byteLength === 4 ? view.getUint32(0, littleEndian) : null;
}
