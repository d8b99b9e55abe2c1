/** The 44-byte header of a PCM WAV file, as most recorders write it. Default: 8 kHz, 16 bits. */
export function wavHeader(format: { channels: number; dataBytes: number; sampleRate?: number; bits?: number }): Buffer {
  const { channels, dataBytes, sampleRate = 8000, bits = 16 } = format;
  const frameBytes = (channels * bits) / 8;
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + dataBytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(bits, 34);
  header.write('data', 36);
  header.writeUInt32LE(dataBytes, 40);
  return header;
}
