import { OpusDecoder } from 'opus-decoder';
import { unreadable, unsupportedCodec } from '../../faults.ts';
import { libraryDecoder, type PacketCodec, type PacketDecoder } from './packet-codec.ts';

/** Opus always decodes to this rate. */
const RATE = 48_000;

/** Opus in Ogg (RFC 7845, section 5.1). */
export function opus(head: Uint8Array): PacketCodec {
  if (head.length < 19) throw unreadable('The header of the Opus stream is cut off.');
  const view = new DataView(head.buffer, head.byteOffset, head.length);
  const version = view.getUint8(8);
  const channels = view.getUint8(9);
  const gain = 10 ** (view.getInt16(16, true) / 256 / 20);
  const family = view.getUint8(18);
  if (version >> 4 !== 0) throw unsupportedCodec('ogg', `Opus of version ${version}`, channels);
  if (channels === 0) throw unreadable('The Opus stream says that it has no channels.');
  const layout = family === 0 ? oneStream(channels) : manyStreams(view, family, channels);
  let headers = 1;
  return {
    name: 'opus',
    channels,
    sampleRate: RATE,
    skip: view.getUint16(10, true),
    takeHeader: () => headers++ === 1,
    samplesOf,
    open: () => open(channels, layout, gain),
  };
}

type Layout = ReturnType<typeof manyStreams>;

function oneStream(channels: number): Layout {
  if (channels > 2) throw unreadable('The header of the Opus stream contradicts itself.');
  return { streamCount: 1, coupledStreamCount: channels - 1, channelMappingTable: channels === 1 ? [0] : [0, 1] };
}

function manyStreams(view: DataView, family: number, channels: number) {
  if (family !== 1 && family !== 255)
    throw unsupportedCodec('ogg', `Opus of channel mapping family ${family}`, channels);
  if (view.byteLength < 21 + channels) throw unreadable('The header of the Opus stream is cut off.');
  const streamCount = view.getUint8(19);
  const coupledStreamCount = view.getUint8(20);
  const channelMappingTable = Array.from({ length: channels }, (_, index) => view.getUint8(21 + index));
  const decoded = streamCount + coupledStreamCount;
  const sane = streamCount > 0 && coupledStreamCount <= streamCount && decoded <= 255;
  if (!sane || channelMappingTable.some((from) => from !== 255 && from >= decoded)) {
    throw unreadable('The header of the Opus stream contradicts itself.');
  }
  return { streamCount, coupledStreamCount, channelMappingTable };
}

/** Read from the first two bytes of the packet (RFC 6716, section 3.1). */
function samplesOf(packet: Uint8Array): number {
  const [toc, second = 0] = packet;
  if (toc === undefined) return 0;
  const config = toc >> 3;
  const milliseconds =
    config < 12 ? [10, 20, 40, 60][config & 3] : config < 16 ? [10, 20][config & 1] : [2.5, 5, 10, 20][config & 3];
  const code = toc & 3;
  const frames = code === 0 ? 1 : code === 3 ? second & 63 : 2;
  return (milliseconds ?? 0) * frames * (RATE / 1000);
}

async function open(channels: number, layout: Layout, gain: number): Promise<PacketDecoder> {
  // The timeline does the skipping, because it knows whether the stream was cut out of a longer one.
  const decoder = new OpusDecoder({ channels, ...layout, preSkip: 0 });
  await decoder.ready;
  return libraryDecoder('Opus', {
    decode(packets) {
      const decoded = decoder.decodeFrames([...packets]);
      if (gain !== 1) for (const samples of decoded.channelData) amplify(samples, gain);
      return decoded;
    },
    close: () => decoder.free(),
  });
}

function amplify(samples: Float32Array, gain: number): void {
  for (let index = 0; index < samples.length; index++) samples[index] = (samples[index] ?? 0) * gain;
}
