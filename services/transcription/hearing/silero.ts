import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { HEARING_RATE } from '../engine.ts';
import { loadSherpa } from './sherpa.ts';
import { LONGEST_SECONDS, type VoiceActivity, WINDOW } from './speech-detector.ts';

/** Seconds. Shorter sounds are no words, shorter pauses no ends. */
const LEAST_SPEECH = 0.2;
const LEAST_PAUSE = 0.3;
const THRESHOLD = 0.5;

/** Silero's model of version 5, as @ricky0123/vad-web ships it. One for each channel: it remembers. */
export function openSilero(): VoiceActivity {
  const { Vad } = loadSherpa();
  const vad = new Vad(
    {
      sileroVad: {
        model: join(dirname(createRequire(import.meta.url).resolve('@ricky0123/vad-web')), 'silero_vad_v5.onnx'),
        threshold: THRESHOLD,
        minSilenceDuration: LEAST_PAUSE,
        minSpeechDuration: LEAST_SPEECH,
        // Long speech is cut by those who know its quietest places.
        maxSpeechDuration: 3600,
        windowSize: WINDOW,
      },
      sampleRate: HEARING_RATE,
      numThreads: 1,
    },
    LONGEST_SECONDS + 10,
  );
  return {
    lateToBegin: LEAST_SPEECH * HEARING_RATE + 2 * WINDOW,
    lateToEnd: LEAST_PAUSE * HEARING_RATE,
    accept(window) {
      vad.acceptWaveform(window);
      // It cuts the sound itself too; only its verdict is used.
      while (!vad.isEmpty()) vad.pop();
      return vad.isDetected();
    },
    reset: () => vad.reset(),
  };
}
