import { Fault } from '@call-analysis/fault';
import { clip } from '../../codecs/clip.ts';
import { unreadable } from '../../faults.ts';
import type { PacketDecoder } from './packet-codec.ts';

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
