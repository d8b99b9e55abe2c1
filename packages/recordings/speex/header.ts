import { broken } from './broken.ts';

const SIZE_BYTES = 80;
const MAGIC = 'Speex   ';
const BITSTREAM_VERSION = 4;
/** As libspeex's encoder has it: a lower or higher rate has no band to be coded in. */
const LOWEST_RATE = 6000;
const HIGHEST_RATE = 48_000;
/** Encoders write at most 10. The bound keeps what one packet unfolds to small. */
const MOST_FRAMES_PER_PACKET = 64;

export interface SpeexHeader {
  /** How many bands: 1 narrow, 2 wide, 3 ultra-wide. */
  readonly bands: 1 | 2 | 3;
  readonly channels: 1 | 2;
  /** Hertz. */
  readonly sampleRate: number;
  readonly framesPerPacket: number;
  /** Packets between the comments and the first sound, not to be decoded. */
  readonly extraHeaders: number;
}

/** The first packet of a stream ("The Speex Codec Manual", "Ogg file format"). */
export function parseHeader(bytes: Uint8Array): SpeexHeader {
  if (bytes.length < SIZE_BYTES) throw broken('its header is shorter than 80 bytes');
  if (Buffer.from(bytes.subarray(0, MAGIC.length)).toString('latin1') !== MAGIC) {
    throw broken('its header does not start with the word Speex');
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, SIZE_BYTES);
  const field = (offset: number): number => view.getInt32(offset, true);

  if (field(28) > 1 || field(44) !== BITSTREAM_VERSION) throw broken('it is of a version that nothing decodes');
  const sampleRate = field(36);
  if (sampleRate < LOWEST_RATE || sampleRate > HIGHEST_RATE) throw broken(`its sample rate is ${sampleRate}`);
  const mode = field(40);
  if (mode !== 0 && mode !== 1 && mode !== 2) throw broken(`its mode is ${mode}`);
  const channels = field(48);
  if (channels !== 1 && channels !== 2) throw broken(`it has ${channels} channels`);
  // Old encoders write 0 and mean 1.
  const framesPerPacket = field(64) || 1;
  if (framesPerPacket < 1 || framesPerPacket > MOST_FRAMES_PER_PACKET) {
    throw broken(`it has ${framesPerPacket} frames in a packet`);
  }
  const extraHeaders = field(68);
  if (extraHeaders < 0) throw broken(`it has ${extraHeaders} extra headers`);
  return { bands: mode === 0 ? 1 : mode === 1 ? 2 : 3, channels, sampleRate, framesPerPacket, extraHeaders };
}
