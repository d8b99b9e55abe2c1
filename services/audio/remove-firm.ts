import { type FirmData, removeFirm as removeData } from '@call-analysis/call-processing';
import type { BodyOf, Event, FirmRemoved } from '@call-analysis/events';
import type { Parts } from './extract-recording.ts';
import { foldersOf } from './recordings/recording-objects.ts';

export function firmData({ inProgress }: Pick<Parts, 'inProgress'>): FirmData {
  return {
    service: 'audio',
    rows: [],
    folders: (firmUuid) => foldersOf(firmUuid),
    stop: (firmUuid) => inProgress.abortFirm(firmUuid),
  };
}

/** Stops the extraction of a removed firm's recordings, and removes its recordings and what was made of them. */
export async function removeFirm(
  { db, bus, objects, inProgress }: Pick<Parts, 'db' | 'bus' | 'objects' | 'inProgress'>,
  event: Event<BodyOf<typeof FirmRemoved>>,
): Promise<void> {
  await removeData({ db, bus, objects }, firmData({ inProgress }), event);
}
