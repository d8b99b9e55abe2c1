import type { RecordingTranscript } from '../../workers/transcribe-recording.ts';
import type { MadeCall, SpokenLine } from './calls.ts';
import { textErrors } from './text-errors.ts';

export interface Measured {
  readonly call: MadeCall;
  /** Null when it was refused with LANGUAGE_NOT_SUPPORTED. */
  readonly transcript: RecordingTranscript | null;
  /**
   * The model's text for each line, cut out of the recording exactly where it was inserted. Absent if not requested.
   */
  readonly byHand?: readonly string[];
  /** Seconds that the transcription took. */
  readonly took: number;
  /** The most memory that the worker has held until then. */
  readonly residentBytes: number;
}

/** As one of several engines that transcribe the same calls. */
export interface Compared extends Measured {
  readonly engine: string;
  /** Seconds of processor time that the transcription took. */
  readonly processor: number;
}

export type Figures = ReturnType<typeof figuresOf>;

export function figuresOf(measured: readonly Measured[]) {
  let [wordErrors, words, letterErrors, letters] = [0, 0, 0, 0];
  const cut = { wordErrors: 0, words: 0 };
  const [starts, ends]: [number[], number[]] = [[], []];
  for (const { call, said, own, byHand } of channelsOf(measured)) {
    if (said.every((line) => line.text !== '')) {
      const errors = textErrors(textOf(said), textOf(own), call.language);
      wordErrors += errors.wordErrors;
      words += errors.words;
      letterErrors += errors.letterErrors;
      letters += errors.letters;
      if (byHand !== undefined) {
        const byLines = textErrors(textOf(said), byHand, call.language);
        cut.wordErrors += byLines.wordErrors;
        cut.words += byLines.words;
      }
    }
    for (const utterance of own) {
      starts.push(nearest(utterance.start, said, 'start'));
      ends.push(nearest(utterance.end, said, 'end'));
    }
  }
  const seconds = measured.reduce((sum, { call }) => sum + (call.lines.at(-1)?.end ?? 0), 0);
  return {
    calls: measured.length,
    refused: measured.filter(({ transcript }) => transcript === null).length,
    /** Of the calls that were not refused and whose lines have texts; null when there are none. */
    wordErrorRate: words === 0 ? null : wordErrors / words,
    letterErrorRate: letters === 0 ? null : letterErrors / letters,
    /** Of the same calls, when their lines are cut by hand; null when that was not measured. */
    wordErrorRateByHand: cut.words === 0 ? null : cut.wordErrors / cut.words,
    /** Seconds of sound per second of work. */
    speed: seconds / measured.reduce((sum, { took }) => sum + took, 0),
    /** The 95th percentile of the differences between utterances and what was said, in seconds; null when there are none. */
    startError: percentile(starts),
    endError: percentile(ends),
  };
}

/** The share of the words that are wrong, by kind of voice: people, and each synthesizer. */
export function wordErrorRates(measured: readonly Measured[]): Map<string, number> {
  const sums = new Map<string, { errors: number; words: number }>();
  for (const { call, speaker, said, own } of channelsOf(measured)) {
    if (said.length === 0 || said.some(({ text }) => text === '')) continue;
    const [synthesizer, voice] = speaker.split(':');
    const kind = voice === undefined ? 'people' : synthesizer!;
    const { wordErrors, words } = textErrors(textOf(said), textOf(own), call.language);
    const sum = sums.get(kind) ?? { errors: 0, words: 0 };
    sums.set(kind, { errors: sum.errors + wordErrors, words: sum.words + words });
  }
  return new Map([...sums].map(([kind, { errors, words }]) => [kind, errors / words]));
}

/** What was said and recognized on each channel of the calls that were not refused. */
function channelsOf(measured: readonly Measured[]) {
  return measured.flatMap(({ call, transcript, byHand }) =>
    transcript === null
      ? []
      : (['left', 'right'] as const).map((side, at) => ({
          call,
          speaker: call.speakers[at]!,
          said: call.lines.filter((line) => line.side === side),
          own: transcript.utterances.filter((each) => each.side === side),
          byHand: byHand?.filter((_, line) => call.lines[line]!.side === side).join(' '),
        })),
  );
}

const textOf = (spoken: readonly { readonly text: string }[]) => spoken.map(({ text }) => text).join(' ');

/**
 * An utterance may join several lines and be cut at a silence within one, so it must begin where a line begins or a
 * silence ends, and end where a line ends or a silence begins.
 */
function nearest(time: number, lines: readonly SpokenLine[], bound: 'start' | 'end'): number {
  const other = bound === 'start' ? 'end' : 'start';
  const times = lines.flatMap((line) => [line[bound], ...line.silences.map((silence) => silence[other])]);
  return Math.min(...times.map((each) => Math.abs(each - time)));
}

function percentile(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1]!;
}
