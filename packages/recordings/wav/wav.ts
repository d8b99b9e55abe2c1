import { decodeSampleData, infoOf, type SampleData, sampleData } from '../codecs/sample-data.ts';
import { unreadable, wrongContent } from '../faults.ts';
import { mp3 } from '../mp3/mp3.ts';
import { fourCC } from '../reading/bytes.ts';
import { type Chunk, chunksOf, endOfSamples, HeaderReader, UNKNOWN_SIZE } from '../reading/headers.ts';
import type { Container, Source } from '../recording.ts';
import { partOf } from '../source.ts';
import { codecOf, FORMAT_CHUNK_BYTES, MP3_TAG, readFormat, type WavFormat } from './format-chunk.ts';

/** RIFF WAVE, big-endian as RIFX and over 4 GiB as RF64 (EBU Tech 3306) or BW64 (ITU-R BS.2088). */
export const wav: Container = {
  format: 'wav',
  async probe(source) {
    const found = await open(source);
    if (found.mp3) return { ...(await mp3.probe(found.mp3)), format: 'wav' };
    return infoOf('wav', found.samples);
  },
  async *decode(source) {
    const found = await open(source);
    if (found.mp3) yield* mp3.decode(found.mp3);
    else yield* decodeSampleData(source, found.samples);
  },
};

type Found = { readonly mp3: Source; readonly samples: null } | { readonly mp3: null; readonly samples: SampleData };

async function open(source: Source): Promise<Found> {
  const { format, start, end, declaredFrames } = await readChunks(source);
  if (format.tag === MP3_TAG) return { mp3: partOf(source, start, end), samples: null };
  const codec = codecOf(format);
  const { channels, sampleRate } = format;
  return { mp3: null, samples: sampleData({ codec, channels, sampleRate, start, end }, declaredFrames) };
}

export const WAV_KINDS: readonly string[] = ['RIFF', 'RIFX', 'RF64', 'BW64'];

/** Walks the chunks until both the format and the samples are found, in either order. */
async function readChunks(source: Source) {
  const reader = new HeaderReader(source);
  const header = await reader.read(0, 12);
  const kind = fourCC(header);
  if (!WAV_KINDS.includes(kind) || fourCC(header, 8) !== 'WAVE') throw wrongContent('wav');
  const littleEndian = kind !== 'RIFX';

  let format: WavFormat | null = null;
  let data: { start: number; end: number } | null = null;
  let declaredFrames: number | null = null;
  let largeDataBytes: number | null = null;
  const sizeOf = (id: string, declaredBytes: number): number =>
    id === 'data' && declaredBytes === UNKNOWN_SIZE && largeDataBytes !== null ? largeDataBytes : declaredBytes;

  for await (const chunk of chunksOf(reader, { littleEndian, sizeOf })) {
    if (chunk.id === 'ds64') largeDataBytes ??= await readLargeSize(reader, chunk);
    else if (chunk.id === 'fact') declaredFrames ??= await readFrames(reader, chunk, littleEndian);
    else if (chunk.id === 'fmt ') {
      const length = Math.min(chunk.sizeBytes, FORMAT_CHUNK_BYTES);
      format ??= readFormat(await reader.read(chunk.start, length), littleEndian);
    } else if (chunk.id === 'data' && !data) {
      const end = await endOfSamples(reader, chunk.start, chunk.sizeBytes, littleEndian);
      data = { start: chunk.start, end };
    }
    if (format && data) return { format, ...data, declaredFrames };
  }
  if (format) codecOf(format);
  throw unreadable(`The WAV file has no ${format ? 'samples: its data' : 'format: its fmt'} chunk is missing.`);
}

/** The size of the samples is the second field, after the size of the file. */
async function readLargeSize(reader: HeaderReader, chunk: Chunk): Promise<number | null> {
  const view = await reader.read(chunk.start, 16);
  return view.byteLength === 16 ? Number(view.getBigUint64(8, true)) : null;
}

async function readFrames(reader: HeaderReader, chunk: Chunk, littleEndian: boolean): Promise<number | null> {
  const view = await reader.read(chunk.start, 4);
  return view.byteLength === 4 ? view.getUint32(0, littleEndian) : null;
}
