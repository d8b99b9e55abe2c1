import { deflateSync } from 'node:zlib';
import type { Language } from '@call-analysis/events';
import { z } from 'zod';
import { parsed, type TimedText, tidyText } from '../speech-engine.ts';
import { languageOf } from '../spoken-language.ts';

/** A segment of OpenAI's `verbose_json`. Servers differ in the fields that they leave out. */
const AnswerSegment = z.object({
  start: z.number(),
  end: z.number(),
  text: z.string(),
  avg_logprob: z.number().nullish(),
  no_speech_prob: z.number().nullish(),
  compression_ratio: z.number().nullish(),
  /** Deepgram's. */
  confidence: z.number().nullish(),
});
type AnswerSegment = z.infer<typeof AnswerSegment>;

const ServerAnswer = z
  .object({
    text: z.string().nullish(),
    language: z.string().nullish(),
    /** The probabilities come from whisper.cpp's server and others, not from OpenAI. */
    language_probability: z.number().nullish(),
    detected_language_probability: z.number().nullish(),
    segments: z.array(AnswerSegment).max(5000).nullish(),
  })
  .refine(({ text, segments }) => typeof text === 'string' || Array.isArray(segments));

export type ServerAnswer = z.infer<typeof ServerAnswer>;

/** A speech server's answer; null when the body is not a transcription. */
export function readAnswer(body: string): ServerAnswer | null {
  return parsed(ServerAnswer, body);
}

/** Whether Whisper repeats itself endlessly. Another attempt at a higher temperature ends that. */
export function isStuck(answer: ServerAnswer, segmentSeconds: number): boolean {
  return segmentsOf(answer, segmentSeconds).some(isLoop);
}

/**
 * The text of an answer without what Whisper makes up. Fault LANGUAGE_NOT_SUPPORTED when the call's language was not known
 * and the server is sure of an unsupported one.
 */
export function interpret(
  answer: ServerAnswer,
  segmentSeconds: number,
  known: Language | null,
): { utterances: TimedText[]; language: Language | null } {
  const segments = segmentsOf(answer, segmentSeconds).filter(
    (each) => !isLoop(each) && !isSilence(each) && !isCredit(each),
  );
  const texts = segments.map((each) => ({ ...each, confidence: confidenceOf(each) }));
  const utterances = tidyText(texts, segmentSeconds);
  const logprobs = segments.flatMap(({ avg_logprob: logprob }) => logprob ?? []);
  const language = languageOf(answer.language, known, {
    segmentSeconds,
    texts: utterances,
    logprob: logprobs.length === 0 ? null : logprobs.reduce((sum, each) => sum + each, 0) / logprobs.length,
    probability: answer.language_probability ?? answer.detected_language_probability ?? null,
  });
  return { utterances, language };
}

/** Whisper tells the average logarithm of the probabilities of a segment's tokens. */
function confidenceOf({ avg_logprob: logprob, confidence }: AnswerSegment): number | undefined {
  if (typeof logprob === 'number') return Math.exp(logprob);
  return confidence ?? undefined;
}

function segmentsOf({ segments, text }: ServerAnswer, segmentSeconds: number): AnswerSegment[] {
  if (segments !== null && segments !== undefined && segments.length > 0) return segments;
  return text === null || text === undefined ? [] : [{ text, start: 0, end: segmentSeconds }];
}

/** Whisper's own limit: text that compresses better than this is repetition. */
const MAX_COMPRESSION_RATIO = 2.4;

function isLoop({ text, compression_ratio: reported }: AnswerSegment): boolean {
  const bytes = Buffer.byteLength(text);
  return bytes > 0 && (reported ?? bytes / deflateSync(text).length) > MAX_COMPRESSION_RATIO;
}

/**
 * Whisper itself drops segments with no_speech_prob over 0.6 and avg_logprob under -1. For silence, a tone or a ringing
 * telephone, Whisper base returns "You", "." and "BEEP" with 0.71 to 0.93 and -0.66 to -0.81. Speech, a single "yes"
 * included, stays below 0.65 and mostly below 0.3.
 */
function isSilence({ no_speech_prob: silence, avg_logprob: logprob }: AnswerSegment): boolean {
  if (silence === null || silence === undefined) return false;
  return silence > 0.9 || (silence > 0.7 && (logprob ?? 0) < -0.7) || (silence > 0.6 && (logprob ?? 0) < -1);
}

/** Closing lines of subtitles, on which Whisper was trained and which it returns for noise. They do not occur in calls. */
const credits = [
  /amara\.org|dimatorzok/i,
  /^\W*(субтитры (сделал|создавал|подогнал|делал)|редактор субтитров|продолжение следует\W*$)/i,
  /^\W*(thanks?( you)? for watching|gracias por ver (el|este) v[ií]deo|subt[ií]tulos (realizados )?por|subtitles by)\b/i,
];

function isCredit({ text }: AnswerSegment): boolean {
  return credits.some((credit) => credit.test(text));
}
