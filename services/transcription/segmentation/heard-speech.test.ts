import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Crosstalk } from '../audio/crosstalk.ts';
import { readStereo, type Side, type Stereo } from '../audio/stereo.ts';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { LINE_SOUNDS, noise, sound } from '../test/sounds.ts';
import { areEqual, mix } from '../test/voices.ts';
import { transcribeRecording } from '../workers/transcribe-recording.ts';
import { openSilero, SileroDetectors } from './silero.ts';
import { WINDOW } from './speech-detector.ts';

const file = fileURLToPath(new URL('../fixtures/two-voices.wav', import.meta.url));
/** Who speaks when in the fixture, in seconds. */
const SAID = [
  ['left', 0.5, 3],
  ['right', 4, 7.7],
  ['left', 8.65, 10.85],
] as const;
const SECONDS = 11.3;

let left: Float32Array;
let right: Float32Array;
beforeAll(async () => {
  const sides: [Float32Array[], Float32Array[]] = [[], []];
  for await (const [one, other] of readStereo(file, 'wav')) {
    sides[0].push(one);
    sides[1].push(other);
  }
  [left, right] = sides.map((parts) => Float32Array.from(parts.flatMap((part) => [...part]))) as [
    Float32Array,
    Float32Array,
  ];
});

/** The segments that an engine gets of a recording. */
async function heard(
  one: Float32Array,
  other: Float32Array,
  activity = openSilero,
): Promise<(readonly [Side, number, number])[]> {
  const sides: Side[] = [];
  const seconds: number[] = [];
  async function* recording(): AsyncGenerator<Stereo> {
    for (let at = 0; at < one.length; at += 8000) yield [one.slice(at, at + 8000), other.slice(at, at + 8000)];
  }
  const { utterances } = await transcribeRecording(recording(), {
    activity,
    transcriber: {
      maxSegmentSeconds: 20,
      async transcribe(samples, side) {
        sides.push(side);
        seconds.push(samples.length / SAMPLE_RATE_HZ);
      },
      finish: async () => ({
        engine: 'none',
        language: null,
        segments: seconds.map((length) => [{ text: 'speech', start: 0, end: length }]),
      }),
    },
  });
  return utterances.map(({ side, start, end }) => [side, start, end]);
}

async function expectAllHeard(one: Float32Array, other: Float32Array): Promise<void> {
  const segments = (await heard(one, other)).toSorted(([, a], [, b]) => a - b);
  expect(segments.map(([side]) => side)).toEqual(SAID.map(([side]) => side));
  for (const [at, [, start, end]] of SAID.entries()) {
    expect(Math.abs(segments[at]![1] - start)).toBeLessThan(0.3);
    expect(Math.abs(segments[at]![2] - end)).toBeLessThan(0.3);
  }
}

const amplified = (samples: Float32Array, gain: number) => samples.map((sample) => sample * gain);
const decibels = (samples: Float32Array) =>
  10 * Math.log10(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);

describe('all speech is found, with its times,', () => {
  it('at an ordinary loudness', () => expectAllHeard(left, right));

  it('of speakers at -45 dB below full scale', async () => {
    const loudest = Math.max(decibels(left), decibels(right));
    const gain = 10 ** ((-45 - loudest) / 20);
    await expectAllHeard(amplified(left, gain), amplified(right, gain));
  });

  it('of a party that grows 20 dB quieter for a second within what it says, as one utterance', async () => {
    const dipped = left.map(
      (sample, at) => (at > 1.2 * SAMPLE_RATE_HZ && at < 2.2 * SAMPLE_RATE_HZ ? 0.1 : 1) * sample,
    );
    await expectAllHeard(dipped, right);
  });

  it('when one party is 20 dB quieter than the other', () => expectAllHeard(left, amplified(right, 0.1)));

  it("over a line's noise", async () => {
    const hiss = noise(SECONDS);
    const rumble = noise(SECONDS, 0.05);
    await expectAllHeard(mix([left, 1], [hiss, 0.006]), mix([right, 1], [rumble, 0.02]));
  });

  it('over a hum of the mains', async () => {
    const hum = sound(SECONDS, LINE_SOUNDS['a hum of the mains']!);
    await expectAllHeard(mix([left, 1], [hum, 0.3]), mix([right, 1], [hum, 0.3]));
  });

  it("in spite of each party's echo on the other channel", async () => {
    await expectAllHeard(mix([left, 1], [right, 0.1, 0.12]), mix([right, 1], [left, 0.1, 0.12]));
  });

  it('in spite of crosstalk at -20 dB', () =>
    expectAllHeard(mix([left, 1], [right, 0.1]), mix([right, 1], [left, 0.1])));

  it.each([0.005, 0.02, 0.05])('in spite of crosstalk at -20 dB that is %d s late', (delay) =>
    expectAllHeard(mix([left, 1], [right, 0.1, delay]), mix([right, 1], [left, 0.1, delay])),
  );

  it.each([
    [0.32, 0.3],
    [0.7, 0.5],
    [1, 0.1],
  ])('in spite of echoes that are %d s late, %d times as loud', (delay, gain) =>
    expectAllHeard(mix([left, 1], [right, gain, delay]), mix([right, 1], [left, gain, delay])),
  );

  it('when both parties speak at the same time', async () => {
    // The left channel twice, the second time while the right party speaks.
    const later = mix([left, 1], [left, 1, 3.6]);
    const segments = await heard(later, right);
    const timeOf = (side: Side) =>
      segments.filter(([each]) => each === side).reduce((sum, [, start, end]) => sum + end - start, 0);
    expect(timeOf('right')).toBeGreaterThan(3.4);
    expect(timeOf('left')).toBeGreaterThan(7);
    const crosstalk = new Crosstalk();
    const sides = [crosstalk.push(later, right), crosstalk.flush()];
    expect(areEqual(Float32Array.from(sides.flatMap(([one]) => [...one])), later)).toBe(true);
    expect(areEqual(Float32Array.from(sides.flatMap(([, other]) => [...other])), right)).toBe(true);
  });

  it('alike by detectors that heard another recording before', async () => {
    const detectors = new SileroDetectors();
    const first = await heard(left, right, detectors.forRecording());
    await heard(noise(SECONDS), left, detectors.forRecording());
    const again = await heard(left, right, detectors.forRecording());
    expect(again).toEqual(first);
    expect(first).toEqual(await heard(left, right));
  });
});

describe('nothing is heard in', () => {
  it.each(Object.entries(LINE_SOUNDS))('%s', async (_, at) => {
    const tone = sound(8, at);
    expect(await heard(tone, new Float32Array(tone.length))).toEqual([]);
    expect(await heard(amplified(tone, 0.05), tone)).toEqual([]);
  });

  it.each([
    ['white', 1],
    ['low', 0.05],
  ])('%s noise, loud or faint', async (_, color) => {
    const hiss = noise(8, color);
    for (const gain of [0.1, 0.01, 0.001])
      expect(
        await heard(
          amplified(hiss, gain),
          hiss.map(() => 0),
        ),
      ).toEqual([]);
  });
});

it('the model that is made for one window decides every window as the published one', () => {
  const published = join(dirname(createRequire(import.meta.url).resolve('@ricky0123/vad-web')), 'silero_vad_v6.onnx');
  const decisions = (samples: Float32Array, model?: string) => {
    const detector = openSilero(model);
    return Array.from({ length: Math.floor(samples.length / WINDOW) }, (_, at) =>
      detector.accept(samples.subarray(at * WINDOW, (at + 1) * WINDOW)),
    );
  };
  for (const samples of [left, mix([right, 1], [noise(SECONDS), 0.01])]) {
    const ours = decisions(samples);
    expect(new Set(ours)).toEqual(new Set([false, true]));
    expect(ours).toEqual(decisions(samples, published));
  }
});
