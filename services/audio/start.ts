import { redeliveryWindowDays } from '@call-analysis/bus';
import { WorkInProgress } from '@call-analysis/call-processing';
import { CallErased, FirmRemoved, publishedBy } from '@call-analysis/events';
import { ingest as ingestService } from '@call-analysis/proto';
import { type Channel, type Client, dial } from '@call-analysis/rpc';
import { defineService } from '@call-analysis/service';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import type { Deps as ExtractionDeps } from './extract-recording.ts';
import { rpcs } from './grpc.ts';
import { foldersOf } from './recordings/recording-objects.ts';
import { sweep } from './sweep-uploads.ts';

export type { Config } from './config.ts';

const UPLOAD_BYTES = 52_428_800;
const ORPHAN_AFTER_MS = 60 * 60_000;
const SWEEP_EVERY_MS = 10 * 60_000;

interface Deps extends ExtractionDeps {
  readonly ingest: Client<typeof ingestService> & Channel;
}

export const { schema, migrations, events, prepare, start } = defineService<Config, Deps>({
  name: 'audio',
  migrations: new URL('./prisma/migrations', import.meta.url),
  publishes: publishedBy('audio'),
  consumers,
  firmData: ({ inProgress }) => ({
    rows: [],
    folders: (firmUuid) => foldersOf(firmUuid),
    stop: (firmUuid) => inProgress.abortFirm(firmUuid),
  }),
  // One replica consumes the erasure for certain; another may be extracting the recording.
  listeners: [
    { event: CallErased, receive: ({ inProgress }, event) => inProgress.abort(event) },
    { event: FirmRemoved, receive: ({ inProgress }, { subject }) => inProgress.abortFirm(subject) },
  ],
  // An interrupted extraction removes what it has written.
  settleMs: 2_000,
  open({ config, log, db, bus, objects, closing, interrupted }) {
    const ingest = dial(ingestService, config.ingest, { name: 'ingest', tls: config.tls, log });
    closing.add('ingest client', () => ingest.close());
    return { log, db, bus, objects, ingest, inProgress: new WorkInProgress(), interrupted };
  },
  rpcs: (deps, { uploadBytes = UPLOAD_BYTES, orphanAfterMs = ORPHAN_AFTER_MS }) => [
    rpcs({ ...deps, uploadBytes, orphanAfterMs }),
  ],
  // No upload can be registered without it, but another replica would not have another ingest; the gateway asks ingest.
  dependencies: ({ ingest }) => [{ name: 'ingest', vital: false, check: () => ingest.ready() }],
  schedules: (deps, { bus, orphanAfterMs = ORPHAN_AFTER_MS, sweepEveryMs = SWEEP_EVERY_MS }) => [
    {
      name: 'sweep',
      everyMs: sweepEveryMs,
      run: (now) => sweep({ ...deps, claimDays: redeliveryWindowDays(bus) }, orphanAfterMs, now),
    },
  ],
});
