import type { Bus } from '@call-analysis/bus';
import { type FirmData, removeFirm as removeData } from '@call-analysis/call-processing';
import type { BodyOf, Event, FirmRemoved } from '@call-analysis/events';
import type { ModelQueue } from '../queue/model-queue.ts';
import type { Store } from '../store.ts';

interface Parts {
  readonly store: Store;
  readonly modelQueue?: Pick<ModelQueue, 'inProgress'> | undefined;
}

export function firmData({ store, modelQueue }: Parts): FirmData {
  return {
    service: 'analysis',
    rows: store.firmRows,
    stop: (firmUuid) => modelQueue?.inProgress.abortFirm(firmUuid),
  };
}

/**
 * Removes the scorecards, analyses, usage and budget of a removed firm, and its calls that wait for a language model. The
 * result of an analysis that is still running is dropped when it ends.
 */
export async function removeFirm(
  parts: Parts & { readonly bus: Bus },
  event: Event<BodyOf<typeof FirmRemoved>>,
): Promise<void> {
  await removeData({ db: parts.store.db, bus: parts.bus }, firmData(parts), event);
}
