import { mkdirSync } from 'node:fs';
import { openObjects } from '@call-analysis/objects';
import { hasRoom } from '@call-analysis/postgres/server';
import { Closing, exportSpans, isDiskFull, type Logger, timeLeft, StartFault } from '@call-analysis/runtime';
import { BUS, buses, requireEmptyEmbeddedBus } from './bus.ts';
import type { Settings } from './config.ts';
import { type DataDirectory, openDataDirectory } from './data-directory.ts';
import { openDatabase } from './database.ts';

/** PostgreSQL's code for a full disk. */
const FULL = '53100';

/**
 * Turns errors that the operator can fix into a StartFault with one sentence. Other errors keep their stack for the log.
 * Call this before closing anything, because closing frees space on the disk.
 */
async function toStartFault(error: unknown, settings: Settings): Promise<unknown> {
  if (error instanceof StartFault) return error;
  const wasFull = causesOf(error).some((cause) => isDiskFull(cause) || cause.code === FULL);
  if (wasFull || !(await hasRoom(settings.dataDirectory))) {
    return new StartFault(`The disk that holds ${settings.dataDirectory} is full. Free some space and restart.`, {
      cause: error,
    });
  }
  return error;
}

function causesOf(error: unknown): (Error & { code?: unknown })[] {
  const causes: (Error & { code?: unknown })[] = [];
  for (let each = error; each instanceof Error && causes.length < 8; each = each.cause) causes.push(each);
  return causes;
}

export { readSettings } from './config.ts';
export type { Settings } from './config.ts';

export type Standalone = Awaited<ReturnType<typeof start>>;

/** Models that the admin command adds are in the data directory, unless SPEECH_MODEL_DIR is set. */
function withModels(engine: Settings['speech'], { models }: DataDirectory): Settings['speech'] {
  if (engine.kind !== 'local' || engine.modelDirectory !== undefined) return engine;
  mkdirSync(models, { recursive: true });
  return { ...engine, modelDirectory: models };
}

/** Starts every service in this process, with embedded parts under the data directory. Throws when the signal aborts. */
export async function start(settings: Settings, parts: { log: Logger; signal?: AbortSignal }) {
  const { log, signal } = parts;
  const closing = new Closing(log);
  try {
    const directory = openDataDirectory(settings.dataDirectory);
    if (settings.traces !== undefined) {
      const traces = await exportSpans(settings.traces, log);
      closing.add('traces', () => traces.close());
    }
    // The services are loaded while PostgreSQL starts, which is mostly waiting.
    const [database, services] = await Promise.all([
      openDatabase(settings, directory, 'start', { log, closing, signal }),
      import('./services.ts'),
    ]);
    signal?.throwIfAborted();
    if (settings.kafka !== undefined) await requireEmptyEmbeddedBus(database.url(BUS));
    const disk = {
      store: 'disk' as const,
      directory: directory.objects,
      secret: directory.secrets.urlSecret,
      previousSecret: directory.secrets.previousUrlSecret,
    };
    const objects = { ...(settings.s3 ?? disk), encryption: settings.encryption };
    // Makes the data key, so that the services need not each make one.
    if (settings.encryption !== undefined) await openObjects(objects, { log });
    const bus = buses(settings, database.url, objects);
    const { jwt } = settings;
    const left = timeLeft(settings.closeMs);
    const named = (name: string) => ({ log: log.child({ service: name }), left });

    const keys = await services.startKeyManagement(
      {
        databaseUrl: database.url('key_management'),
        bus: bus.of('key_management'),
        listen: directory.socket('key-management'),
        peppers: { ...settings.peppers, pepper: settings.peppers.pepper ?? directory.secrets.apiKeyPepper },
      },
      named('key-management'),
    );
    closing.add('key-management', () => keys.close());
    signal?.throwIfAborted();
    const [ingest, transcription, analysis, webhooks] = await Promise.all([
      services.startIngest(
        {
          databaseUrl: database.url('ingest'),
          bus: bus.of('ingest'),
          objects,
          listen: directory.socket('ingest'),
          keyManagement: keys.address,
          analysis: directory.socket('analysis'),
          limits: settings.limits,
        },
        named('ingest'),
      ),
      services.startTranscription(
        {
          databaseUrl: database.url('transcription'),
          bus: bus.of('transcription'),
          objects,
          workDirectory: directory.work,
          engine: withModels(settings.speech, directory),
        },
        named('transcription'),
      ),
      services.startAnalysis(
        {
          databaseUrl: database.url('analysis'),
          bus: bus.of('analysis'),
          objects,
          listen: directory.socket('analysis'),
          keyManagement: keys.address,
          ...settings.analysis,
        },
        named('analysis'),
      ),
      services.startWebhooks(
        {
          databaseUrl: database.url('webhooks'),
          bus: bus.of('webhooks'),
          listen: directory.socket('webhooks'),
          allowPrivate: settings.webhooksAllowPrivate,
        },
        named('webhooks'),
      ),
    ]);
    closing.add('ingest', () => ingest.close());
    closing.add('transcription', () => transcription.close());
    closing.add('analysis', () => analysis.close());
    closing.add('webhooks', () => webhooks.close());
    signal?.throwIfAborted();
    const audio = await services.startAudio(
      {
        databaseUrl: database.url('audio'),
        bus: bus.of('audio'),
        objects,
        listen: directory.socket('audio'),
        ingest: ingest.address,
      },
      named('audio'),
    );
    closing.add('audio', () => audio.close());
    signal?.throwIfAborted();
    const gateway = await services.startGateway(
      {
        ...settings.http,
        objectsOrigin:
          settings.s3 === undefined || settings.encryption !== undefined
            ? undefined
            : new URL(settings.s3.publicEndpoint).origin,
        bus: bus.listener,
        objects,
        keyManagement: keys.address,
        ingest: ingest.address,
        audio: audio.address,
        analysis: analysis.address,
        webhooks: webhooks.address,
        jwt: { ...jwt, key: jwt.key ?? { kind: 'secret', secret: directory.secrets.jwtSecret } },
      },
      named('gateway'),
    );
    closing.add('gateway', () => gateway.close());
    database.lock.announce(gateway.url);
    return {
      url: gateway.url,
      /** The address of key-management, for the admin command. */
      keyManagement: keys.address,
      directory,
      /** Resolves when another process has taken the data directory. */
      lost: database.lock.lost,
      close: () => closing.close(),
    };
  } catch (error) {
    const reason = await toStartFault(error, settings);
    await closing.close().catch(() => {});
    throw reason;
  }
}
