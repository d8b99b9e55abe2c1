import type { RecordingInfo, Samples } from '@call-analysis/recordings';

const HEADER_BYTES = 44;
const SAMPLE_BYTES = 2;
const PCM = 1;
/** The largest size in RIFF. Players still play a longer recording to its end. */
const MAX_SIZE = 0xff_ff_ff_ff;

/** The header of a WAV file of 16-bit PCM with as many frames as the recording has. */
export function wavHeader({ channels, sampleRate, frames }: RecordingInfo): Buffer {
  const rate = Math.round(sampleRate);
  const frameBytes = channels * SAMPLE_BYTES;
  const dataBytes = frames * frameBytes;
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(Math.min(MAX_SIZE, dataBytes + HEADER_BYTES - 8), 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(PCM, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(SAMPLE_BYTES * 8, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(Math.min(MAX_SIZE, dataBytes), 40);
  return header;
}

/** Samples as interleaved 16-bit PCM. */
export function pcm16({ channels }: Samples): Buffer {
  const length = channels[0]?.length ?? 0;
  const bytes = Buffer.allocUnsafe(length * channels.length * SAMPLE_BYTES);
  let at = 0;
  for (let frame = 0; frame < length; frame++) {
    for (const samples of channels) {
      const clipped = Math.max(-1, Math.min(1, samples[frame]!));
      at = bytes.writeInt16LE(Math.round(clipped * (clipped < 0 ? 32_768 : 32_767)), at);
    }
  }
  return bytes;
}
