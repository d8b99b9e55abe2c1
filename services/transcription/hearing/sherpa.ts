import { createRequire } from 'node:module';
import { Fault } from '@call-analysis/fault';

/** What is used of sherpa-onnx-node, which brings no types. Its objects live outside the JavaScript heap. */
interface Sherpa {
  OfflineRecognizer: new (config: {
    featConfig: { sampleRate: number; featureDim: number };
    modelConfig: Record<string, unknown>;
    decodingMethod?: string;
  }) => OfflineRecognizer;
  Vad: new (config: VadConfig, bufferSeconds: number) => Vad;
  SpokenLanguageIdentification: new (config: {
    whisper: { encoder: string; decoder: string };
    numThreads: number;
  }) => SpokenLanguageIdentification;
}

export interface OfflineStream {
  acceptWaveform(wave: { samples: Float32Array; sampleRate: number }): void;
}

export interface OfflineRecognizer {
  createStream(): OfflineStream;
  /** Blocks until it has been heard. */
  decode(stream: OfflineStream): void;
  getResult(stream: OfflineStream): { text: string; lang?: string };
}

export interface SpokenLanguageIdentification {
  createStream(): OfflineStream;
  /** An ISO 639-1 code. */
  compute(stream: OfflineStream): string;
}

export interface VadConfig {
  readonly sileroVad: {
    readonly model: string;
    readonly threshold: number;
    readonly minSilenceDuration: number;
    readonly minSpeechDuration: number;
    readonly maxSpeechDuration: number;
    readonly windowSize: number;
  };
  readonly sampleRate: number;
  readonly numThreads: number;
}

export interface Vad {
  acceptWaveform(samples: Float32Array): void;
  isDetected(): boolean;
  isEmpty(): boolean;
  pop(): void;
  reset(): void;
}

/** Loads the native library: for the process that hears, never for the one that serves. Fault ENGINE_UNAVAILABLE. */
export function loadSherpa(): Sherpa {
  try {
    return createRequire(import.meta.url)('sherpa-onnx-node') as Sherpa;
  } catch (cause) {
    const message = `The speech engine has no library for this machine (${process.platform} ${process.arch}). Name a speech server in SPEECH_URL.`;
    throw new Fault('unavailable', 'ENGINE_UNAVAILABLE', message, { cause });
  }
}
