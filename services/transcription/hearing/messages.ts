import type { Language } from '@call-analysis/events';
import type { FaultKind } from '@call-analysis/fault';
import type { Format } from '@call-analysis/recordings';
import type { Heard } from '../engine.ts';
import type { Model } from '../models/model.ts';
import type { HeardRecording } from './hear-recording.ts';

/** Who turns the pieces into text: models in the process that cuts them, or an engine of the process that asked. */
export type Recognition =
  | {
      readonly by: 'models';
      /** Besides the one that comes along. */
      readonly models: readonly Model[];
      /** Where files may be kept that are made once. */
      readonly directory: string;
    }
  | { readonly by: 'engine'; readonly name: string; readonly maxPieceSeconds: number };

/** To an ear. */
export type Order =
  | { readonly order: 'hear'; readonly file: string; readonly format: Format; readonly recognition: Recognition }
  | { readonly order: 'heard'; readonly utterances: readonly Heard[]; readonly language: Language | null };

/** From an ear. */
export type Word =
  | { readonly word: 'progress'; readonly seconds: number }
  /** Wants to know what is said in it; hears nothing further until it is told. */
  | { readonly word: 'piece'; readonly samples: Float32Array; readonly language: Language | null }
  | { readonly word: 'done'; readonly recording: HeardRecording }
  | { readonly word: 'fault'; readonly kind: FaultKind; readonly code: string; readonly message: string }
  /** A bug: what was thrown. */
  | { readonly word: 'failure'; readonly message: string; readonly stack: string | undefined };
