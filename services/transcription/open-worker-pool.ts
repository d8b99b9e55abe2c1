import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { gauge, type Logger } from '@call-analysis/runtime';
import type { Config } from './config.ts';
import { commandEngine } from './engines/command/command-engine.ts';
import { serverEngine } from './engines/server/server-engine.ts';
import type { SpeechEngine } from './engines/speech-engine.ts';
import { findModels } from './models/find-models.ts';
import type { Model } from './models/model.ts';
import { TranscriptionWorkerPool, type WorkerPoolOptions } from './workers/worker-pool.ts';

const workers = gauge('transcription_workers', 'Transcription workers, by state.', ['state']);
const limit = gauge('transcription_workers_limit', 'Recordings that can be transcribed at the same time.', []);
const waiting = gauge('transcription_waiting_recordings', 'Received recordings that wait for a worker.', []);

/** With more workers, decoding and cutting alone would keep a machine busy. */
const MAX_WORKERS_FOR_ENGINE = 8;

/**
 * Opens a pool for the configured engine, and reports its usage until it is closed. ConfigFault when there is a mistake in
 * the model directory.
 */
export function openWorkerPool(
  { engine: config, workDirectory }: Pick<Config, 'engine' | 'workDirectory'>,
  log: Logger,
  testOptions: Partial<WorkerPoolOptions> = {},
) {
  let engine: SpeechEngine | undefined;
  let size: number;
  let recognition: WorkerPoolOptions['recognition'];
  if (config.kind === 'local') {
    const models = configuredModels(config.modelDirectory, log);
    const { threads = 1 } = config;
    size = config.workers ?? Math.max(Math.floor(availableParallelism() / threads), 1);
    recognition = () => ({ by: 'models', models: models(), directory: workDirectory, threads });
  } else {
    engine = config.kind === 'server' ? serverEngine(config) : commandEngine({ ...config, workDirectory });
    const { name, maxSegmentSeconds } = engine;
    size = Math.min(engine.concurrency, MAX_WORKERS_FOR_ENGINE);
    recognition = () => ({ by: 'engine', name, maxSegmentSeconds });
  }
  const pool = new TranscriptionWorkerPool({ size, recognition, engine, ...testOptions });
  const metrics = [
    workers.from(() => [
      { labels: ['busy'], value: pool.usage.busy },
      { labels: ['idle'], value: pool.usage.idle },
    ]),
    limit.from(() => [{ labels: [], value: size }]),
    waiting.from(() => [{ labels: [], value: pool.usage.waiting }]),
  ];
  return {
    pool,
    /** Calls that can be transcribed at the same time. */
    size,
    async close() {
      for (const remove of metrics) remove();
      pool.close();
      await engine?.close();
    },
  };
}

/**
 * Returns a function that finds the models as they are now, so that a model that is added, changed or removed counts from
 * the next recording on, in every process that reads the directory. A mistake that is made in the directory meanwhile is
 * logged once, and the models from before stay in use. ConfigFault for a mistake that is there already.
 */
export function configuredModels(directory: string | undefined, log: Logger): () => readonly Model[] {
  if (directory === undefined) return () => [];
  let models: readonly Model[] = findModels(directory);
  let mistake: string | null = null;
  return () => {
    try {
      const found = findModels(directory);
      if (!isDeepStrictEqual(found, models))
        log.info({ models: found.map(({ name }) => name) }, 'the speech models changed');
      models = found;
      mistake = null;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== mistake) log.warn({ reason: message }, 'the speech models stay as they were');
      mistake = message;
    }
    return models;
  };
}
