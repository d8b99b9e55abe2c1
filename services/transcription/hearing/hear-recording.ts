import type { Language } from '@call-analysis/events';
import { type Heard, HEARING_RATE } from '../engine.ts';
import { Crosstalk, type Side } from './crosstalk.ts';
import { Loudness } from './loudness.ts';
import { type CutPiece, PieceCutter } from './piece-cutter.ts';
import type { VoiceActivity } from './speech-detector.ts';

/** Some consecutive samples of both channels at HEARING_RATE, equally many. */
export type Stereo = readonly [left: Float32Array, right: Float32Array];

/** Takes the pieces of one recording. */
export interface Transcriber {
  /** The longest piece it wants. */
  readonly maxPieceSeconds: number;
  /** Hears a piece, or keeps it for later. Fails as engines do. */
  hear(samples: Float32Array, side: Side): Promise<void>;
  /** What was said in each piece, in the order they came. */
  finish(): Promise<Transcription>;
}

export interface Transcription {
  /** The engine with its model. */
  readonly engine: string;
  readonly language: Language | null;
  readonly pieces: readonly (readonly Heard[])[];
}

/** Something said in a recording; seconds from its beginning. */
export interface Said {
  readonly side: Side;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface HeardRecording {
  /** Seconds. */
  readonly duration: number;
  /** Both channels are one recording, so nobody knows who spoke. */
  readonly oneSound: boolean;
  /** Null when there was nothing to hear. */
  readonly engine: string | null;
  readonly language: Language | null;
  readonly said: readonly Said[];
}

export interface Ears {
  readonly activity: () => VoiceActivity;
  readonly transcriber: Transcriber;
  /** Told how many seconds have been heard. */
  readonly onProgress?: (seconds: number) => void;
}

/** Hears a recording from its beginning to its end, in memory that does not grow with it. */
export async function hearRecording(sound: AsyncIterable<Stereo>, ears: Ears): Promise<HeardRecording> {
  const { transcriber } = ears;
  const crosstalk = new Crosstalk();
  const loudness = new Loudness();
  const cutter = new PieceCutter(ears.activity, transcriber.maxPieceSeconds);
  const heard: Pick<CutPiece, 'side' | 'from' | 'start' | 'end'>[] = [];
  let samples = 0;

  function cut([left, right]: Stereo): CutPiece[] {
    loudness.raise(left, right);
    return cutter.push(left, right);
  }

  async function hear(pieces: readonly CutPiece[]): Promise<void> {
    for (const { side, from, start, end, samples: piece } of pieces) {
      heard.push({ side, from, start, end });
      await transcriber.hear(piece, side);
      ears.onProgress?.(Math.max(end, 0));
    }
  }

  for await (const [left, right] of sound) {
    samples += left.length;
    await hear(cut(crosstalk.push(left, right)));
    ears.onProgress?.(samples / HEARING_RATE);
  }
  await hear(cut(crosstalk.flush()));
  await hear(cutter.flush());

  const duration = samples / HEARING_RATE;
  const { oneSound } = crosstalk;
  if (heard.length === 0) return { duration, oneSound, engine: null, language: null, said: [] };
  const { engine, language, pieces } = await transcriber.finish();
  const said = heard.flatMap(({ side, from, start, end }, index) =>
    (pieces[index] ?? []).flatMap((each) => {
      const text = each.text.replace(/\s+/gu, ' ').trim();
      if (!/[\p{L}\p{N}]/u.test(text)) return [];
      // The silence around a piece is not part of what was said.
      const begin = Math.min(Math.max(from + each.start, start), end);
      return [{ side, text, start: begin, end: Math.min(Math.max(from + each.end, begin), end) }];
    }),
  );
  return { duration, oneSound, engine, language, said };
}
