import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Fault } from '@call-analysis/fault';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';

/** The used part of sherpa-onnx-node, which has no types. Its objects live outside the JavaScript heap. */
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
    provider: string;
  }) => SpokenLanguageIdentification;
}

export interface OfflineStream {
  acceptWaveform(wave: { samples: Float32Array; sampleRate: number }): void;
}

export interface OfflineRecognizer {
  createStream(): OfflineStream;
  /** Blocks until the stream is decoded. */
  decode(stream: OfflineStream): void;
  /** `ys_log_probs`: of each token, from transducers; other models leave it empty. */
  getResult(stream: OfflineStream): { text: string; lang?: string; ys_log_probs?: readonly number[] };
}

export interface SpokenLanguageIdentification {
  createStream(): OfflineStream;
  /** An ISO 639-1 code. */
  compute(stream: OfflineStream): string;
}

interface VadConfig {
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
  readonly provider: string;
}

interface Vad {
  acceptWaveform(samples: Float32Array): void;
  isDetected(): boolean;
  isEmpty(): boolean;
  pop(): void;
  reset(): void;
}

/** The processor, with the file of the options of its sessions. */
export const PROVIDER = `cpu:${fileURLToPath(new URL('./session.config', import.meta.url))}`;

/** Loads the native library. Only workers call this, because its calls block and can crash the process. Fault ENGINE_UNAVAILABLE. */
export function loadSherpa(): Sherpa {
  try {
    return createRequire(import.meta.url)('sherpa-onnx-node') as Sherpa;
  } catch (cause) {
    const message = `The local speech engine does not support this machine (${process.platform} ${process.arch}). Set SPEECH_URL to a speech server.`;
    throw new Fault('unavailable', 'ENGINE_UNAVAILABLE', message, { cause });
  }
}

/** Blocks until samples at SAMPLE_RATE_HZ are recognized. */
export function recognize(
  recognizer: OfflineRecognizer,
  samples: Float32Array,
): ReturnType<OfflineRecognizer['getResult']> {
  const stream = recognizer.createStream();
  stream.acceptWaveform({ samples, sampleRate: SAMPLE_RATE_HZ });
  recognizer.decode(stream);
  return recognizer.getResult(stream);
}
