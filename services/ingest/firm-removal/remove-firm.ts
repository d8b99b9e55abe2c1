import { type FirmData, removeFirm as removeData } from '@call-analysis/call-processing';
import type { BodyOf, Event, FirmRemoved } from '@call-analysis/events';
import type { Parts } from '../parts.ts';
import { firmRows } from './firm-store.ts';

export const firmData: FirmData = {
  service: 'ingest',
  rows: firmRows,
  // Recordings are the audio service's. `facts` are bodies of events that were too large for a broker.
  folders: (firmUuid, country) => [
    `${country}/${firmUuid}/`,
    `frozen/${firmUuid}/`,
    `rejected/${firmUuid}/`,
    `transcripts/${firmUuid}/`,
    `facts/${firmUuid}/`,
  ],
};

/** Removes the calls of a removed firm with all that belongs to them, its uploads, campaigns, jobs and index. */
export async function removeFirm(
  { store, bus, objects }: Pick<Parts, 'store' | 'bus' | 'objects'>,
  event: Event<BodyOf<typeof FirmRemoved>>,
): Promise<void> {
  await removeData({ db: store.db, bus, objects }, firmData, event);
}
