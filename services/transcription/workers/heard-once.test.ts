import { describe, expect, it } from '@jest/globals';
import type { Stereo } from '../audio/stereo.ts';
import { conversationOf } from '../domain.ts';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { loudnessActivity, mix, voice } from '../test/voices.ts';
import { transcribeRecording } from './transcribe-recording.ts';

type Spoken = readonly (readonly [from: number, to: number])[];

const SECONDS = 16;
/** 20 dB under the party whose speech it is. */
const CROSSTALK = 0.1;
/** Speech is found a little before and after it. */
const MARGIN = 0.5;

async function* blocks(left: Float32Array, right: Float32Array): AsyncGenerator<Stereo> {
  for (let at = 0; at < left.length; at += 4096) yield [left.slice(at, at + 4096), right.slice(at, at + 4096)];
}

/** The utterances of a recording by an engine that returns one for every segment. */
async function heard(left: Float32Array, right: Float32Array) {
  const segments: { text: string; start: number; end: number }[][] = [];
  const recording = await transcribeRecording(blocks(left, right), {
    activity: loudnessActivity,
    transcriber: {
      maxSegmentSeconds: 20,
      async transcribe(samples) {
        segments.push([{ text: `segment ${segments.length}`, start: 0, end: samples.length / SAMPLE_RATE_HZ }]);
      },
      finish: async () => ({ engine: 'test', language: 'en', segments }),
    },
  });
  return { ...recording, ...conversationOf(recording, { left: 'operator', right: 'client' }) };
}

/** A party's own speech, and that of the other party as crosstalk, which on a line is not delayed as echoes are. */
function channels(operator: Spoken, client: Spoken, crosstalk = CROSSTALK): [Float32Array, Float32Array] {
  const [one, other] = [voice(SECONDS, 1, operator), voice(SECONDS, 2, client)];
  return [mix([one, 1], [other, crosstalk]), mix([other, 1], [one, crosstalk])];
}

function expectWithin(utterances: Awaited<ReturnType<typeof heard>>['utterances'], role: string, spoken: Spoken): void {
  const own = utterances.filter((each) => each.role === role);
  for (const { start, end } of own) {
    const within = spoken.some(([from, to]) => start! >= from - MARGIN && end! <= to + MARGIN);
    expect({ role, start, end, within }).toEqual({ role, start, end, within: true });
  }
  for (const [from, to] of spoken) expect(own.filter(({ start, end }) => start! < to && end! > from)).toHaveLength(1);
}

describe('an utterance appears once, for the party that spoke', () => {
  it.each<[string, Spoken, Spoken]>([
    [
      'in turns',
      [
        [0.5, 4],
        [9.5, 12],
      ],
      [[5, 7]],
    ],
    ['over one another', [[0.5, 7]], [[5, 11]]],
    ['in the middle of what the other says', [[0.5, 12]], [[4, 8]]],
    ['with only one party', [[1, 5]], []],
  ])('%s, with crosstalk of 20 dB less', async (_, operator, client) => {
    const { utterances, isDualMono } = await heard(...channels(operator, client));
    expect(isDualMono).toBe(false);
    expectWithin(utterances, 'operator', operator);
    expectWithin(utterances, 'client', client);
  });

  it('without crosstalk, when both speak at the same time', async () => {
    const spoken: [Spoken, Spoken] = [[[1, 6]], [[1, 6]]];
    const { utterances } = await heard(...channels(...spoken, 0));
    expect(utterances.map(({ role }) => role).toSorted()).toEqual(['client', 'operator']);
  });

  it.each([
    ['equally loud', 1, 0],
    ['one of them at a third', 0.33, 0],
    ['one of them 20 ms later', 1, 0.02],
  ])('when both channels have the same sound, %s', async (_, gain, delay) => {
    const [operator, client] = channels([[0.5, 4]], [[6, 9]], 0);
    const both = mix([operator, 1], [client, 1]);
    const { utterances, isDualMono, notes } = await heard(both, mix([both, gain, delay]));
    expect(isDualMono).toBe(true);
    expect(utterances.map(({ role }) => role)).toEqual(['operator', 'operator']);
    expect(new Set(utterances.map(({ text }) => text)).size).toBe(2);
    expect(notes).toEqual([expect.stringContaining('who speaks is unknown')]);
  });

  it('when one channel is silent', async () => {
    const spoken: Spoken = [
      [0.5, 4],
      [7, 10],
    ];
    const [operator] = channels(spoken, [], 0);
    const { utterances, notes } = await heard(operator, new Float32Array(operator.length));
    expectWithin(utterances, 'operator', spoken);
    expect(notes).toEqual(["Nothing is said on the client's (right) channel."]);
  });
});
