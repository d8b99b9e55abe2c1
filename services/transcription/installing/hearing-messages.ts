import type { Format } from '@call-analysis/recordings';
import type { Model } from '../models/model.ts';

/** Messages to the process that transcribes samples. */
export interface HearSamples {
  readonly model: Model;
  readonly files: readonly { readonly file: string; readonly format: Format }[];
  /** For files that are created once and kept. */
  readonly directory: string;
}

/** From that process, for each file in turn; `loaded` comes first. */
export type Heard =
  | { readonly type: 'loaded'; readonly tookSeconds: number }
  | { readonly type: 'heard'; readonly text: string; readonly seconds: number; readonly tookSeconds: number }
  | { readonly type: 'error'; readonly message: string };
