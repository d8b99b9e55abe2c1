import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import kafkajs from 'kafkajs';
import type { Kafka } from '../config.ts';

/**
 * Of the topics that are made: whatever strangers and the brokers' own settings prefer, the brokers then keep messages as
 * we write them. One batch that was compressed in a way that nobody here reads stops its readers for as long as it stays.
 */
export const COMPRESSION = 'uncompressed';
/** Neither Node nor any library that is kept up reads these. */
export const UNREAD_COMPRESSION: ReadonlySet<string> = new Set(['snappy', 'lz4']);

const compressed = promisify(zstdCompress);
const decompressed = promisify(zstdDecompress);

/** Lets the client read what was compressed by zstd, which Node knows and the client by itself does not. */
export function readZstd(): void {
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: (encoder: { readonly buffer: Buffer }) => compressed(encoder.buffer),
    decompress: (buffer: Buffer) => decompressed(buffer),
  });
}

/** The command that keeps what nobody here reads out of a topic; it stands for what is sent from then on. */
export function howToUncompress({ brokers }: Pick<Kafka, 'brokers'>): string {
  const where = `kafka-configs.sh --bootstrap-server ${brokers[0]} --alter --entity-type topics --entity-name NAME`;
  return `${where} --add-config compression.type=${COMPRESSION}`;
}
