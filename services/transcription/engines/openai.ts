import { setTimeout as delay } from 'node:timers/promises';
import type { Language } from '@call-analysis/events';
import type { Fault } from '@call-analysis/fault';
import { HEARING_RATE, type Piece, type SpeechEngine } from '../engine.ts';
import { boundedText } from './bounded-text.ts';
import { engineMisconfigured, engineUnavailable } from './engine-faults.ts';
import { interpret, isStuck, readAnswer, type TranscriptionAnswer } from './openai-answer.ts';
import { advise, type Refusal } from './openai-refusal.ts';
import { retryAfterMs } from './retry-after.ts';
import { openTurns } from './turns.ts';
import { wavFile } from './wav-file.ts';

export interface OpenaiConfig {
  /** A server with `/v1/audio/transcriptions`: its root, its `/v1`, or the whole address. */
  readonly url: string;
  readonly model: string;
  readonly apiKey?: string | undefined;
  /** Requests at the same time; 4 when absent. */
  readonly concurrency?: number | undefined;
  readonly patience?: Partial<Patience> | undefined;
}

/** How long a piece is worth waiting for. */
export interface Patience {
  /** Tries of one piece, when the server refuses for the moment. */
  readonly tries: number;
  /** The pause before the second try; each further one is twice as long, half of it by chance. */
  readonly backOffMs: number;
  /** The longest pause, whatever Retry-After says. */
  readonly longestPauseMs: number;
  /** Time for one try: this, and some for each second of the piece. */
  readonly tryMs: number;
  readonly tryMsPerSecond: number;
}

// A try of the longest piece is given 270 s, since fetch itself gives up after 300 s without an answer.
const usualPatience: Patience = {
  tries: 5,
  backOffMs: 1000,
  longestPauseMs: 60_000,
  tryMs: 30_000,
  tryMsPerSecond: 4000,
};

/** Two of Whisper's windows: longer pieces cost a slow server more per try and save nothing. */
const MAX_PIECE_SECONDS = 60;

/** An answer for a minute of speech, tokens and all, is some 20 KB. */
const ANSWER_BYTES = 1024 * 1024;
const REFUSAL_BYTES = 2048;

/** What frees Whisper when it got stuck in a loop; the first step of its own fallback that is warm enough to help. */
const WARM = 0.4;

interface Request {
  readonly file: Blob;
  readonly seconds: number;
  readonly hint: Language | null;
  readonly temperature: number;
}

type Reply = { readonly answer: TranscriptionAnswer } | { readonly refusal: Refusal } | { readonly lost: Fault };

/**
 * Any server that speaks OpenAI's transcription API. What may pass (429, 5xx, network, time-outs, answers that are none)
 * is tried again with back-off, then fails with ENGINE_UNAVAILABLE; a wrong key, model or address fails at once with
 * ENGINE_MISCONFIGURED. A Retry-After is obeyed by all pieces, not just by the one that was told.
 */
export function openaiEngine(config: OpenaiConfig): SpeechEngine {
  const patience = { ...usualPatience, ...config.patience };
  const concurrency = config.concurrency ?? 4;
  const address = transcriptionsAddress(config.url);
  const turns = openTurns(concurrency);
  const unknownHints = new Set<Language>();
  let knowsSegments = true;
  let quietUntil = 0;

  async function ask(request: Request, wantsSegments: boolean, signal: AbortSignal): Promise<Reply> {
    const form = new FormData();
    form.append('file', request.file, 'piece.wav');
    form.append('model', config.model);
    form.append('response_format', wantsSegments ? 'verbose_json' : 'json');
    form.append('temperature', String(request.temperature));
    if (request.hint !== null) form.append('language', request.hint);
    const deadline = AbortSignal.timeout(tryMs(request.seconds));
    try {
      const response = await fetch(address, {
        method: 'POST',
        headers: config.apiKey === undefined ? {} : { authorization: `Bearer ${config.apiKey}` },
        body: form,
        // A redirect would carry a recording to where nobody told us to send it.
        redirect: 'manual',
        signal: AbortSignal.any([signal, deadline]),
      });
      if (!response.ok) return { refusal: await refusalOf(response) };
      const body = await boundedText(response, ANSWER_BYTES);
      if (body.isCut)
        return {
          lost: engineUnavailable(`The speech server's answer is over ${ANSWER_BYTES} bytes. Check SPEECH_URL.`),
        };
      const answer = readAnswer(body.text);
      if (answer !== null) return { answer };
      return {
        lost: engineUnavailable('What answers at SPEECH_URL is no transcription. Check that it is a speech server.'),
      };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const why = deadline.aborted ? 'in time' : 'at all';
      return { lost: engineUnavailable(`The speech server does not answer ${why}. Try again later.`, error) };
    }
  }

  async function refusalOf(response: Response): Promise<Refusal> {
    const { text } = await boundedText(response, REFUSAL_BYTES);
    return {
      status: response.status,
      body: text,
      retryAfterMs: retryAfterMs(response.headers.get('retry-after'), Date.now()),
    };
  }

  async function answerTo(first: Request, signal: AbortSignal): Promise<TranscriptionAnswer> {
    let request = first;
    // Time, too, ends the tries, but a server that limits requests by the minute must be waited for.
    const enough = Date.now() + Math.max(300_000, 2 * tryMs(request.seconds));
    for (let tried = 1; ;) {
      await untilQuiet(signal);
      const wantsSegments = knowsSegments;
      const reply = await ask(request, wantsSegments, signal);
      if ('answer' in reply) return reply.answer;
      let fault: Fault;
      let asked = 0;
      if ('lost' in reply) fault = reply.lost;
      else {
        const advice = advise(reply.refusal, { segments: wantsSegments, hint: request.hint !== null });
        if (advice.kind === 'give-up') throw advice.fault;
        if (advice.kind === 'ask-for-text') {
          knowsSegments = false;
          continue;
        }
        if (advice.kind === 'drop-hint') {
          unknownHints.add(request.hint!);
          request = { ...request, hint: null };
          continue;
        }
        fault = advice.fault;
        asked = Math.min(reply.refusal.retryAfterMs ?? 0, patience.longestPauseMs);
        if (asked > 0) quietUntil = Math.max(quietUntil, Date.now() + asked);
        // faster-whisper answers 500 when it does not know the language's code, as of Kyrgyz.
        if (reply.refusal.status === 500) request = { ...request, hint: null };
      }
      const pause = Math.max(asked, pauseBefore(tried));
      if (tried === patience.tries || Date.now() + pause > enough) throw fault;
      tried += 1;
      await delay(pause, undefined, { signal });
    }
  }

  function tryMs(pieceSeconds: number): number {
    return Math.ceil(patience.tryMs + patience.tryMsPerSecond * pieceSeconds);
  }

  /** Milliseconds before the try after this one. */
  function pauseBefore(tried: number): number {
    const most = Math.min(patience.longestPauseMs, patience.backOffMs * 2 ** (tried - 1));
    return most * (0.5 + Math.random() / 2);
  }

  async function untilQuiet(signal: AbortSignal): Promise<void> {
    for (let wait = quietUntil - Date.now(); wait > 0; wait = quietUntil - Date.now())
      await delay(wait, undefined, { signal });
  }

  async function hear(piece: Piece, known: Language | null, signal: AbortSignal) {
    const request: Request = {
      file: new Blob([wavFile(piece.samples)], { type: 'audio/wav' }),
      seconds: piece.samples.length / HEARING_RATE,
      hint: known !== null && unknownHints.has(known) ? null : known,
      temperature: 0,
    };
    let answer = await answerTo(request, signal);
    if (isStuck(answer, request.seconds)) answer = await answerTo({ ...request, temperature: WARM }, signal);
    return interpret(answer, request.seconds, known);
  }

  return {
    name: `openai:${config.model}`,
    maxPieceSeconds: MAX_PIECE_SECONDS,
    concurrency,
    async hear(piece, { language, signal }) {
      if (piece.samples.length === 0) return { utterances: [], language: null };
      return turns.take(signal, async (either) => {
        try {
          return await hear(piece, language, either);
        } catch (error) {
          // A pause that was cut short fails with an error of the timer's own.
          either.throwIfAborted();
          throw error;
        }
      });
    },
    close: () => turns.close(),
  };
}

/** ENGINE_MISCONFIGURED when it is no address of the web. */
export function transcriptionsAddress(url: string): URL {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw engineMisconfigured('SPEECH_URL is no http or https URL.');
  }
  const address = new URL(url);
  address.hash = '';
  const path = address.pathname.replace(/\/+$/, '');
  if (path.endsWith('/audio/transcriptions')) address.pathname = path;
  else address.pathname = `${path}${path.endsWith('/v1') ? '' : '/v1'}/audio/transcriptions`;
  return address;
}
