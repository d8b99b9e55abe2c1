import type { Language } from '@call-analysis/events';
import type { FaultKind } from '@call-analysis/fault';
import type { Format } from '@call-analysis/recordings';
import type { TimedText } from '../engines/speech-engine.ts';
import type { Model } from '../models/model.ts';
import type { RecordingTranscript } from './transcribe-recording.ts';

/** How segments become text: by models in the worker, or by an engine in the service's process. */
export type Recognition =
  | {
      readonly by: 'models';
      /** In addition to the bundled one. */
      readonly models: readonly Model[];
      /** For files that are created once and kept. */
      readonly directory: string;
      /** Of each model; 1 by default. */
      readonly threads?: number;
    }
  | { readonly by: 'engine'; readonly name: string; readonly maxSegmentSeconds: number };

/** From the pool to a worker. */
export type ToWorker =
  | { readonly type: 'transcribe'; readonly file: string; readonly format: Format; readonly recognition: Recognition }
  /** The engine's answer to `segment`. */
  | { readonly type: 'text'; readonly utterances: readonly TimedText[]; readonly language: Language | null };

/** From a worker to the pool. */
export type FromWorker =
  | { readonly type: 'progress'; readonly seconds: number }
  /** Requests the text of a segment. The worker waits for the answer. */
  | { readonly type: 'segment'; readonly samples: Float32Array; readonly language: Language | null }
  | {
      readonly type: 'done';
      readonly transcript: RecordingTranscript;
      /** The memory of the worker after the recording. */
      readonly residentBytes: number;
    }
  | { readonly type: 'fault'; readonly kind: FaultKind; readonly code: string; readonly message: string }
  /** An unexpected error: a bug. */
  | { readonly type: 'error'; readonly message: string; readonly stack: string | undefined };
