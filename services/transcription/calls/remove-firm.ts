import { type FirmData, removeFirm as removeData } from '@call-analysis/call-processing';
import type { BodyOf, Event, FirmRemoved } from '@call-analysis/events';
import type { TranscriptionParts } from './transcribe-call.ts';

/** Stops the transcription of a removed firm's calls and removes the transcripts that were packed for events. */
export async function removeFirm(
  { db, bus, objects, inProgress }: Pick<TranscriptionParts, 'db' | 'bus' | 'objects' | 'inProgress'>,
  event: Event<BodyOf<typeof FirmRemoved>>,
): Promise<void> {
  const data: FirmData = {
    service: 'transcription',
    rows: [],
    folders: (firmUuid) => [`transcripts/${firmUuid}/`],
    stop: (firmUuid) => inProgress.abortFirm(firmUuid),
  };
  await removeData({ db, bus, objects }, data, event);
}
