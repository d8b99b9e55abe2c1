import { fileURLToPath } from 'node:url';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { loadSherpa, PROVIDER } from '../recognition/sherpa.ts';
import { MAX_UTTERANCE_SECONDS, type VoiceActivity, WINDOW } from './speech-detector.ts';

/**
 * A voice is present from the second window on whose probability is over this, until two windows are 0.15 below it, as
 * Silero's authors do. So a word that grows quiet is not cut.
 */
const THRESHOLD = 0.5;
/** Shorter pauses do not end an utterance. */
const PAUSE_WINDOWS = Math.round((0.3 * SAMPLE_RATE_HZ) / WINDOW);
/** Less than one window, so that sherpa decides window by window. Its own durations drop words that dip within 0.2 s. */
const AT_ONCE = 0.01;
const DECIDED_AFTER = 2;
/** The published network takes twice as long for the same decisions, as it chooses its sample rate and shapes in every window. */
const MODEL = fileURLToPath(new URL('../models/voice-activity/silero.onnx', import.meta.url));

/** Opens detectors for one recording after another, each a first time only, because loading one takes a twelfth of a second. */
export class SileroDetectors {
  readonly #opened: VoiceActivity[] = [];

  /** Opens the detectors of the next recording; those of the recording before are not used any more. */
  forRecording(): () => VoiceActivity {
    let used = 0;
    return () => {
      const detector = (this.#opened[used] ??= openSilero());
      used += 1;
      // The engine keeps the last samples when it is reset.
      detector.accept(new Float32Array(WINDOW));
      detector.reset();
      return detector;
    };
  }
}

/** Silero's voice activity detection, version 6. It has state, so each channel needs its own. */
export function openSilero(model = MODEL): VoiceActivity {
  const { Vad } = loadSherpa();
  const vad = new Vad(
    {
      sileroVad: {
        model,
        threshold: THRESHOLD,
        minSilenceDuration: AT_ONCE,
        minSpeechDuration: AT_ONCE,
        // The segmenter cuts long speech, at its quietest moments.
        maxSpeechDuration: 3600,
        windowSize: WINDOW,
      },
      sampleRate: SAMPLE_RATE_HZ,
      numThreads: 1,
      provider: PROVIDER,
    },
    MAX_UTTERANCE_SECONDS + 10,
  );
  let quietFor = PAUSE_WINDOWS;
  return {
    startDelay: DECIDED_AFTER * WINDOW,
    endDelay: (PAUSE_WINDOWS + DECIDED_AFTER - 1) * WINDOW,
    accept(window) {
      vad.acceptWaveform(window);
      // The detector also cuts the samples into utterances; only its decision is used.
      while (!vad.isEmpty()) vad.pop();
      quietFor = vad.isDetected() ? 0 : quietFor + 1;
      return quietFor < PAUSE_WINDOWS;
    },
    reset() {
      vad.reset();
      quietFor = PAUSE_WINDOWS;
    },
  };
}
