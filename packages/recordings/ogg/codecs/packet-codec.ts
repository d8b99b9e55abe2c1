import { Fault } from '@call-analysis/fault';
import { clip } from '../../codecs/channels.ts';
import { unreadable } from '../../faults.ts';

/** The codec of one stream. It sees the packets of the stream in order. */
export interface PacketCodec {
  /** As ffmpeg names it. */
  readonly name: string;
  readonly channels: number;
  /** Of the decoded samples and of the granule positions. */
  readonly sampleRate: number;
  /** Samples at the beginning of the decoder's output that are not part of the recording. */
  readonly skip: number;
  /** Takes a packet after the first; false when the headers are over and the packet holds audio. */
  takeHeader(packet: Uint8Array): boolean;
  /** The number of samples that an audio packet decodes to. */
  samplesOf(packet: Uint8Array): number;
  /** Called after the last header. */
  open(): Promise<PacketDecoder>;
}

export interface PacketDecoder {
  /** The samples of the packets, one array per channel. AUDIO_UNREADABLE when a packet is damaged. */
  decode(packets: readonly Uint8Array[]): Promise<Float32Array[]>;
  close(): void;
}

interface LibraryResult {
  readonly channelData: Float32Array[];
  readonly errors: readonly { message: string }[];
}

interface Library {
  decode(packets: readonly Uint8Array[]): LibraryResult | Promise<LibraryResult>;
  close(): void;
}

/** Adapts a library's decoder: any error that it reports or throws is AUDIO_UNREADABLE. */
export function libraryDecoder(codec: string, library: Library): PacketDecoder {
  const broken = (): Fault => unreadable(`The ${codec} stream is damaged: a packet of it cannot be decoded.`);
  return {
    async decode(packets) {
      let decoded: LibraryResult;
      try {
        decoded = await library.decode(packets);
      } catch (error) {
        throw error instanceof Fault ? error : broken();
      }
      if (decoded.errors.length > 0) throw broken();
      clip(decoded.channelData);
      return decoded.channelData;
    },
    close() {
      try {
        library.close();
      } catch {
        // A decoder that has crashed has no memory to release.
      }
    },
  };
}
