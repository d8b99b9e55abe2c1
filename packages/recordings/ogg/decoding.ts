import { Fault } from '@call-analysis/fault';
import { clip } from '../clip.ts';
import { unreadable } from '../faults.ts';
import type { PacketDecoder } from './codec.ts';

interface Decoded {
  readonly channelData: Float32Array[];
  readonly errors: readonly { message: string }[];
}

/** A library's decoder as one of ours: whatever it reports or throws is a recording that cannot be read. */
export function decoding(
  codec: string,
  library: { decode(packets: readonly Uint8Array[]): Decoded | Promise<Decoded>; close(): void },
): PacketDecoder {
  const broken = (): Fault => unreadable(`The ${codec} stream is broken: a packet of it cannot be decoded.`);
  return {
    async decode(packets) {
      let decoded: Decoded;
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
        // A decoder that broke down has nothing to give back.
      }
    },
  };
}
