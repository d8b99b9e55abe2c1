import { readFile } from 'node:fs/promises';
import { decode, sourceOfBytes } from '@call-analysis/recordings';
import { describe, expect, it } from '@jest/globals';
import { wordErrors } from './recognition/word-errors.ts';
import { TranscriptionTestService, wavOf } from './test/transcription-service.ts';

const service = new TranscriptionTestService({ size: 1 });
const said = [
  ['operator', 'Good afternoon, how can I help you today?'],
  ['client', 'My internet connection has been very slow since yesterday.'],
  ['operator', 'I am sorry. Please wait a moment.'],
] as const;
const fixture = new URL('./fixtures/two-voices.wav', import.meta.url);

/** The samples of both channels of the fixture. */
async function channels(): Promise<[number[], number[]]> {
  const sides: [number[], number[]] = [[], []];
  for await (const samples of decode(sourceOfBytes(await readFile(fixture)), 'wav')) {
    for (const side of [0, 1] as const) for (const sample of samples.channels[side]!) sides[side].push(sample);
  }
  return sides;
}

async function transcribe(bytes: Buffer, duration = 11.3) {
  const { data } = await service.transcriptOf(await service.store(bytes, { duration }));
  return { ...data, utterances: 'utterances' in data.transcript ? data.transcript.utterances : [] };
}

describe('the bundled engine', () => {
  it('transcribes a call of two voices with roles and times, without keeping the event loop busy', async () => {
    const [startedAt, usedBefore] = [performance.now(), process.threadCpuUsage()];
    const { utterances, language, engine, duration, notes } = await transcribe(await readFile(fixture));
    const used = process.threadCpuUsage(usedBefore);
    const took = performance.now() - startedAt;
    expect(utterances.map(({ role }) => role)).toEqual(said.map(([role]) => role));
    const counts = said.map(([, text], at) => wordErrors(text, utterances[at]!.text));
    const sum = (of: 'errors' | 'words') => counts.reduce((total, each) => total + each[of], 0);
    // The model has 8-bit weights, and processors round differently.
    expect(sum('errors') / sum('words')).toBeLessThan(0.25);
    expect({ language, engine, notes }).toEqual({ language: 'en', engine: 'moonshine-tiny', notes: undefined });
    expect(duration).toBeCloseTo(11.3, 1);
    const starts = utterances.map(({ start }) => start!);
    for (const [at, expected] of [0.5, 4, 8.65].entries()) expect(Math.abs(starts[at]! - expected)).toBeLessThan(0.3);
    expect(utterances[1]!.end!).toBeLessThan(8.5);
    // Transcription uses a processor all the time, but not in this thread.
    expect((used.user + used.system) / 1000).toBeLessThan(0.5 * took);
  });

  it('transcribes one recording on both channels once, with a note that roles are unknown', async () => {
    const [left, right] = await channels();
    const both = left.map((sample, at) => 0.6 * (sample + right[at]!));
    const { utterances, notes } = await transcribe(
      wavOf(
        both,
        both.map((sample) => sample / 2),
      ),
    );
    expect(new Set(utterances.map(({ role }) => role))).toEqual(new Set(['operator']));
    const text = utterances.map((each) => each.text).join(' ');
    expect(text).toMatch(/help you.*internet connection.*wait a moment/is);
    expect(text.match(/connection/g)).toHaveLength(1);
    expect(notes).toEqual([expect.stringContaining('who speaks is unknown')]);
  });

  it("does not transcribe one party's echo on the other party's channel", async () => {
    const [left, right] = await channels();
    const echo = (own: number[], other: number[]) =>
      own.map((sample, at) => 0.8 * (sample + 0.15 * (other[at - 400] ?? 0)));
    const { utterances, notes } = await transcribe(wavOf(echo(left, right), echo(right, left)));
    expect(utterances.map(({ role }) => role)).toEqual(said.map(([role]) => role));
    expect(notes).toBeUndefined();
  });

  it('adds a note that names the role of a silent channel', async () => {
    const [left] = await channels();
    const { utterances, notes } = await transcribe(wavOf(left, new Float32Array(left.length)));
    expect(utterances).toHaveLength(2);
    expect(notes).toEqual(["Nothing is said on the client's (right) channel."]);
  });

  it.each([
    ['silence', () => 0],
    ['a faint hum', (at: number) => 0.0005 * Math.sin((2 * Math.PI * 50 * at) / 8000)],
    ['a tone', (at: number) => 0.3 * Math.sin((2 * Math.PI * 425 * at) / 8000)],
    ['noise', (at: number) => 0.05 * Math.sin(at * at * 12.9898)],
  ])('returns no utterances for %s', async (_, sample) => {
    const sound = Array.from({ length: 40_000 }, (__, at) => sample(at));
    const { utterances, language } = await transcribe(wavOf(sound, sound), 5);
    expect(utterances).toEqual([]);
    expect(language).toBeNull();
  });

  it('fails a call that is not in English with LANGUAGE_NOT_SUPPORTED, instead of returning English nonsense', async () => {
    const event = await service.store(await readFile(new URL('./fixtures/russian.ogg', import.meta.url)), {
      format: 'ogg',
      duration: 16,
    });
    const { data } = await service.failureOf(event);
    expect(data).toMatchObject({ code: 'LANGUAGE_NOT_SUPPORTED', retryable: true, attempts: 1 });
    expect(data.message).toContain('SPEECH_MODEL_DIR');
    // It is a result of the call and no incident.
    await service.settled();
    expect(await service.deadLetters()).toBe(0);
    expect(service.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  it('fails a call with a broken recording at the first attempt', async () => {
    const event = await service.store(Buffer.from('RIFF....WAVE, and nothing more'));
    const { data } = await service.failureOf(event);
    expect(['AUDIO_UNREADABLE', 'INVALID_FILE_FORMAT']).toContain(data.code);
    expect(data).toMatchObject({ retryable: false, attempts: 1 });
  });
});
