import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { loadSherpa } from '../recognition/sherpa.ts';
import { MAX_UTTERANCE_SECONDS, type VoiceActivity, WINDOW } from './speech-detector.ts';

/** Seconds. Shorter sounds are not words; shorter pauses do not end an utterance. */
const MIN_SPEECH = 0.2;
const MIN_PAUSE = 0.3;
const THRESHOLD = 0.5;

/** Silero's voice activity detection, version 5, from @ricky0123/vad-web. It has state, so each channel needs its own. */
export function openSilero(): VoiceActivity {
  const { Vad } = loadSherpa();
  const vad = new Vad(
    {
      sileroVad: {
        model: join(dirname(createRequire(import.meta.url).resolve('@ricky0123/vad-web')), 'silero_vad_v5.onnx'),
        threshold: THRESHOLD,
        minSilenceDuration: MIN_PAUSE,
        minSpeechDuration: MIN_SPEECH,
        // The segmenter cuts long speech, at its quietest moments.
        maxSpeechDuration: 3600,
        windowSize: WINDOW,
      },
      sampleRate: SAMPLE_RATE_HZ,
      numThreads: 1,
    },
    MAX_UTTERANCE_SECONDS + 10,
  );
  return {
    startDelay: MIN_SPEECH * SAMPLE_RATE_HZ + 2 * WINDOW,
    endDelay: MIN_PAUSE * SAMPLE_RATE_HZ,
    accept(window) {
      vad.acceptWaveform(window);
      // The detector also cuts the samples into utterances; only its decision is used.
      while (!vad.isEmpty()) vad.pop();
      return vad.isDetected();
    },
    reset: () => vad.reset(),
  };
}
