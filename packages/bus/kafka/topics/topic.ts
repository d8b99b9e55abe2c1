import { StartFault } from '@call-analysis/runtime';
import type { Kafka } from '../../config.ts';

/**
 * The most bytes that one request may send to one partition, which is Kafka's own default. The client sends all
 * messages of a request to the same partition as one batch, and the brokers limit the batch.
 */
export const LARGEST_BATCH_BYTES = 1_048_588;

/**
 * The `compression.type` of the topics that are created: the brokers then store messages in this compression, whatever other
 * producers and the brokers' defaults prefer. A single batch in a compression that cannot be read here blocks its partition
 * for as long as it stays. Analyses and transcripts take an eighth to a fifth of their bytes.
 */
export const COMPRESSION = 'zstd';

/** The topic of an event type. Kafka takes at most 249 letters, digits, dots, hyphens and underscores. */
export function topicOf(kafka: Pick<Kafka, 'prefix'>, type: string): string {
  const topic = `${kafka.prefix}${type}`;
  if (/^[A-Za-z0-9._-]{1,249}$/.test(topic) && topic !== '.' && topic !== '..') return topic;
  throw new StartFault(`Kafka takes no topic of the name ${topic}.`);
}

/** The settings of a topic that is created. */
export function settingsOf({ retentionMs }: Pick<Kafka['topics'], 'retentionMs'>): Record<string, string> {
  return {
    'retention.ms': String(retentionMs),
    'max.message.bytes': String(LARGEST_BATCH_BYTES),
    'compression.type': COMPRESSION,
  };
}

/** Neither Node nor a maintained library reads these. */
export const UNREADABLE_COMPRESSIONS: ReadonlySet<string> = new Set(['snappy', 'lz4']);

/** The command that makes a topic store messages in a compression that can be read, from then on. */
export function compressionCommand({ brokers }: Pick<Kafka, 'brokers'>): string {
  const where = `kafka-configs.sh --bootstrap-server ${brokers[0]} --alter --entity-type topics --entity-name NAME`;
  return `${where} --add-config compression.type=${COMPRESSION}`;
}
