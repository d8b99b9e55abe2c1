import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';

/** A sound of this many seconds; `at` returns its sample at a time in seconds. */
export function sound(seconds: number, at: (time: number) => number): Float32Array {
  return Float32Array.from({ length: Math.round(seconds * SAMPLE_RATE_HZ) }, (_, index) => at(index / SAMPLE_RATE_HZ));
}

const sine = (hertz: number, time: number) => Math.sin(2 * Math.PI * hertz * time);

/** Sounds of telephone lines other than speech, about 20 to 30 dB below full scale. */
export const LINE_SOUNDS: Readonly<Record<string, (time: number) => number>> = {
  'a hum of the mains': (time) => 0.03 * sine(50, time) + 0.02 * sine(150, time) + 0.01 * Math.sign(sine(100, time)),
  'a dial tone': (time) => 0.1 * (sine(350, time) + sine(440, time)),
  'a ringing tone': (time) => (time % 5 < 1 ? 0.15 * sine(425, time) : 0),
  'a busy tone': (time) => (time % 1 < 0.5 ? 0.1 * (sine(480, time) + sine(620, time)) : 0),
  DTMF: (time) => {
    const [low, high] = KEYS[Math.floor(time * 5) % KEYS.length]!;
    return (time * 5) % 1 < 0.5 ? 0.1 * (sine(low, time) + sine(high, time)) : 0;
  },
  'music on hold': (time) => {
    const note = NOTES[Math.floor(time * 3) % NOTES.length]!;
    const chord = [1, 2, 3, 4].reduce((sum, harmonic) => sum + sine(note * harmonic, time) / harmonic, 0);
    return 0.1 * Math.exp(-(time * 3) % 1) * chord + 0.05 * sine(note / 2, time);
  },
};
const KEYS = [
  [697, 1209],
  [770, 1336],
  [852, 1477],
  [941, 1336],
] as const;
const NOTES = [262, 330, 392, 523, 440, 349, 294, 392];

/** The same noise at every call, between -1 and 1; `color` from 1 (white) down to 0 (only low frequencies). */
export function noise(seconds: number, color = 1): Float32Array {
  let [state, smooth] = [1, 0];
  return sound(seconds, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    smooth += color * (state / 2 ** 31 - smooth);
    return smooth;
  });
}
