import type { Band } from './band.ts';
import { parseHeader, type SpeexHeader } from './header.ts';
import { HighBand } from './high-band.ts';
import { ULTRA_WIDE_MODES, WIDE_MODES } from './high-modes.ts';
import { NarrowBand } from './narrow-band.ts';
import { PacketBits } from './packet-bits.ts';
import { clip, IntensityStereo } from './stereo.ts';

const FULL_SCALE = 32_768;

function openBands(count: SpeexHeader['bands'], stereo: IntensityStereo): Band {
  const narrow = new NarrowBand(stereo, count > 1);
  if (count === 1) return narrow;
  const wide = new HighBand(narrow, WIDE_MODES, 0.9);
  return count === 2 ? wide : new HighBand(wide, ULTRA_WIDE_MODES, 0.7);
}

/**
 * Speex, all modes of its three bandwidths, as libspeex decodes it by default, with its perceptual enhancement. A
 * header or packet that is no Speex is a Fault AUDIO_UNREADABLE; after one, `reset` before the next packet. A packet
 * takes time and memory by the header's frames per packet, at most 64, whatever is in it.
 */
export class SpeexDecoder {
  readonly channels: 1 | 2;
  /** Hertz. */
  readonly sampleRate: number;
  /** Samples of one channel that a full packet gives; the last packet may give less. */
  readonly samplesPerPacket: number;
  /** Samples by which the sound comes out late: a stream's first ones are none of the recording's. */
  readonly delay: number;
  /** Packets between the comments and the first sound, not to be decoded. */
  readonly extraHeaders: number;

  readonly #header: SpeexHeader;
  #stereo = new IntensityStereo();
  #band: Band;

  /** `header` is the first packet of the stream; the second holds comments. */
  constructor(header: Uint8Array) {
    this.#header = parseHeader(header);
    this.#band = openBands(this.#header.bands, this.#stereo);
    this.channels = this.#header.channels;
    this.sampleRate = this.#header.sampleRate;
    this.extraHeaders = this.#header.extraHeaders;
    this.samplesPerPacket = this.#header.framesPerPacket * this.#band.frameSize;
    this.delay = this.#band.frameSize / 4;
  }

  /** The samples of each channel, from -1 to 1; none at all for a packet without a frame. */
  decode(packet: Uint8Array): Float32Array[] {
    const bits = new PacketBits(packet);
    const size = this.#band.frameSize;
    const planes = Array.from({ length: this.channels }, () => new Float32Array(this.samplesPerPacket));
    const [left = new Float32Array(0), right] = planes;
    let count = 0;
    while (count < this.samplesPerPacket) {
      const frame = this.#band.decode(bits);
      if (frame === null) break;
      const samples = left.subarray(count, count + size);
      for (let i = 0; i < size; i += 1) samples[i] = clip(frame[i]! / FULL_SCALE);
      if (right !== undefined) this.#stereo.spread(samples, samples, right.subarray(count, count + size));
      count += size;
    }
    return planes.map((plane) => plane.subarray(0, count));
  }

  /** As if no packet had been decoded. */
  reset(): void {
    this.#stereo = new IntensityStereo();
    this.#band = openBands(this.#header.bands, this.#stereo);
  }
}
