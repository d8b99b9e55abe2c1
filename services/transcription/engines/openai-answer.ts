import { deflateSync } from 'node:zlib';
import type { Language } from '@call-analysis/events';
import { z } from 'zod';
import type { Heard } from '../engine.ts';
import { tidy } from './heard-text.ts';
import { isSureOfOther, languageNamed, languageNotSupported } from './spoken-language.ts';

/** OpenAI's `verbose_json`; servers differ in what they leave out. */
const Segment = z.object({
  start: z.number(),
  end: z.number(),
  text: z.string(),
  avg_logprob: z.number().nullish(),
  no_speech_prob: z.number().nullish(),
  compression_ratio: z.number().nullish(),
});
type Segment = z.infer<typeof Segment>;

const Answer = z
  .object({
    text: z.string().nullish(),
    language: z.string().nullish(),
    /** Of whisper.cpp's server and of others; OpenAI does not tell. */
    language_probability: z.number().nullish(),
    detected_language_probability: z.number().nullish(),
    segments: z.array(Segment).max(5000).nullish(),
  })
  .refine(({ text, segments }) => typeof text === 'string' || Array.isArray(segments));

export type TranscriptionAnswer = z.infer<typeof Answer>;

/** The answer of a speech server, or null when it is none. */
export function readAnswer(body: string): TranscriptionAnswer | null {
  try {
    return Answer.safeParse(JSON.parse(body)).data ?? null;
  } catch {
    return null;
  }
}

/** Whether Whisper got stuck and said something over and over; hearing the piece again, less coldly, frees it. */
export function isStuck(answer: TranscriptionAnswer, pieceSeconds: number): boolean {
  return segmentsOf(answer, pieceSeconds).some(isLoop);
}

/**
 * What the answer says was heard, without what Whisper invents. Fails with LANGUAGE_NOT_SUPPORTED when nothing was known
 * of the language and the server is sure that it is none of ours.
 */
export function interpret(
  answer: TranscriptionAnswer,
  pieceSeconds: number,
  known: Language | null,
): { utterances: Heard[]; language: Language | null } {
  const segments = segmentsOf(answer, pieceSeconds).filter(
    (each) => !isLoop(each) && !isSilence(each) && !isCredit(each),
  );
  const utterances = tidy(segments, pieceSeconds);
  const language = languageNamed(answer.language);
  if (language !== 'other') return { utterances, language };
  const logprobs = segments.flatMap(({ avg_logprob: logprob }) => logprob ?? []);
  const sure = isSureOfOther({
    pieceSeconds,
    heard: utterances,
    logprob: logprobs.length === 0 ? null : logprobs.reduce((sum, each) => sum + each, 0) / logprobs.length,
    probability: answer.language_probability ?? answer.detected_language_probability ?? null,
  });
  if (known === null && sure) throw languageNotSupported(answer.language ?? '');
  return { utterances, language: null };
}

function segmentsOf({ segments, text }: TranscriptionAnswer, pieceSeconds: number): Segment[] {
  if (segments !== null && segments !== undefined && segments.length > 0) return segments;
  return text === null || text === undefined ? [] : [{ text, start: 0, end: pieceSeconds }];
}

/** Whisper's own limit: what deflates better than this was said over and over. */
const LOOP_RATIO = 2.4;

function isLoop({ text, compression_ratio: told }: Segment): boolean {
  const bytes = Buffer.byteLength(text);
  return bytes > 0 && (told ?? bytes / deflateSync(text).length) > LOOP_RATIO;
}

/**
 * Whisper itself drops what has no_speech_prob over 0.6 and avg_logprob under -1. Base, hearing silence, a tone or a
 * ringing telephone, says "You", "." and "BEEP" with 0.71 to 0.93 and -0.66 to -0.81, while speech, "yes" alone included,
 * stays below 0.65 and in most cases below 0.3.
 */
function isSilence({ no_speech_prob: silence, avg_logprob: logprob }: Segment): boolean {
  if (silence === null || silence === undefined) return false;
  return silence > 0.9 || (silence > 0.7 && (logprob ?? 0) < -0.7) || (silence > 0.6 && (logprob ?? 0) < -1);
}

/** What subtitles end with, and Whisper, which has learnt from subtitles, hears in noise. Nobody says it on the telephone. */
const credits = [
  /amara\.org|dimatorzok/i,
  /^\W*(субтитры (сделал|создавал|подогнал|делал)|редактор субтитров|продолжение следует\W*$)/i,
  /^\W*(thanks?( you)? for watching|gracias por ver (el|este) v[ií]deo|subt[ií]tulos (realizados )?por|subtitles by)\b/i,
];

function isCredit({ text }: Segment): boolean {
  return credits.some((credit) => credit.test(text));
}
