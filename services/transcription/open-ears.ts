import { availableParallelism } from 'node:os';
import type { Config } from './config.ts';
import type { SpeechEngine } from './engine.ts';
import { commandEngine } from './engines/command.ts';
import { openaiEngine } from './engines/openai.ts';
import { Ears, type EarsOptions } from './hearing/ears.ts';
import { findModels } from './models/find-models.ts';

export interface OpenedEars {
  readonly ears: Ears;
  /** Calls that can be heard at the same time. */
  readonly count: number;
  close(): Promise<void>;
}

/** Beyond this the cutting alone would keep a machine busy. */
const MOST_FOR_ENGINES = 8;

/** Ears for the engine that the configuration names. ConfigFault when there is no model where it says. */
export function openEars(
  { engine, workDirectory }: Pick<Config, 'engine' | 'workDirectory'>,
  stand: Partial<EarsOptions> = {},
): OpenedEars {
  if (engine.kind === 'local') {
    const models = engine.modelDirectory === undefined ? [] : findModels(engine.modelDirectory);
    const count = engine.ears ?? availableParallelism();
    const ears = new Ears({ count, recognition: { by: 'models', models, directory: workDirectory }, ...stand });
    return { ears, count, close: async () => ears.close() };
  }
  const other: SpeechEngine =
    engine.kind === 'openai' ? openaiEngine(engine) : commandEngine({ ...engine, workDirectory });
  const count = Math.min(other.concurrency, MOST_FOR_ENGINES);
  const { name, maxPieceSeconds } = other;
  const ears = new Ears({ count, recognition: { by: 'engine', name, maxPieceSeconds }, engine: other, ...stand });
  return {
    ears,
    count,
    async close() {
      ears.close();
      await other.close();
    },
  };
}
