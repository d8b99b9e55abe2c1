import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import kafkajs from 'kafkajs';
import type { Kafka } from '../../config.ts';
import { COMPRESSION } from '../topics/topic.ts';

/** Neither Node nor a maintained library reads these. */
export const UNREADABLE_COMPRESSIONS: ReadonlySet<string> = new Set(['snappy', 'lz4']);

const compressed = promisify(zstdCompress);
const decompressed = promisify(zstdDecompress);

/** Makes the client read and write zstd, which Node supports and the client does not. */
export function registerZstd(): void {
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: (encoder: { readonly buffer: Buffer }) => compressed(encoder.buffer),
    decompress: (buffer: Buffer) => decompressed(buffer),
  });
}

/** The command that makes a topic store messages in a compression that can be read, from then on. */
export function compressionCommand({ brokers }: Pick<Kafka, 'brokers'>): string {
  const where = `kafka-configs.sh --bootstrap-server ${brokers[0]} --alter --entity-type topics --entity-name NAME`;
  return `${where} --add-config compression.type=${COMPRESSION}`;
}
