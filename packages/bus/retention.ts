import type { Kafka } from './kafka/config.ts';
import type { BusConfig } from './open.ts';

const DAY_MS = 24 * 3600 * 1000;
/** Kafka deletes whole segments, by their newest message, and begins one after seven days where it is not told otherwise. */
const SEGMENT_DAYS = 7;
/** Of clocks, and of what waits to be read. */
const SPARE_DAYS = 1;
/** Longer than any event waits for its last retry. */
const RETRY_DAYS = 30;

/** A fact that was sent so many days ago is no more in Kafka. */
export function goneAfterDays({ topics }: Pick<Kafka, 'topics'>): number {
  return Math.ceil(topics.retentionMs / DAY_MS) + SEGMENT_DAYS + SPARE_DAYS;
}

/** For so many days a fact that was handled may come again, also after Kafka has forgotten how far its readers were. */
export function redeliveryWindowDays(config: BusConfig): number {
  return config.transport === 'kafka' ? Math.max(RETRY_DAYS, goneAfterDays(config.kafka)) : RETRY_DAYS;
}
