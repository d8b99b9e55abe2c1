import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '@call-analysis/runtime';
import { findModels } from './find-models.ts';
import type { Model } from './model.ts';

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
