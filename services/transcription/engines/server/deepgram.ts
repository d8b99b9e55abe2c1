import { z } from 'zod';
import type { ServerAnswer } from './answer.ts';
import type { Protocol, ServerAddress } from './protocol.ts';

const Utterance = z.object({
  start: z.number(),
  end: z.number(),
  transcript: z.string(),
  confidence: z.number().nullish(),
});
const Channel = z.object({
  detected_language: z.string().nullish(),
  language_confidence: z.number().nullish(),
  alternatives: z.array(
    z.object({
      transcript: z.string(),
      confidence: z.number().nullish(),
      words: z
        .array(z.object({ start: z.number(), end: z.number() }))
        .max(10_000)
        .nullish(),
    }),
  ),
});
const DeepgramAnswer = z.object({
  results: z.object({ channels: z.array(Channel).min(1), utterances: z.array(Utterance).max(5000).nullish() }),
});

/** Deepgram's API for recordings: the WAV file is the body, everything else is in the query. */
export function deepgramProtocol({ model, apiKey }: ServerAddress, url: URL): Protocol {
  if (!url.pathname.endsWith('/listen')) {
    const path = url.pathname.replace(/\/$/, '');
    url.pathname = `${path}${path.endsWith('/v1') ? '' : '/v1'}/listen`;
  }
  const defaults = { model, smart_format: 'true', utterances: 'true' };
  for (const [name, value] of Object.entries(defaults))
    if (!url.searchParams.has(name)) url.searchParams.set(name, value);
  const headers: Record<string, string> = { 'content-type': 'audio/wav' };
  if (apiKey !== undefined) headers.authorization = `Token ${apiKey}`;
  return {
    hasTemperature: false,
    request({ file, hint }) {
      const asked = new URL(url);
      // The operator's own choice, such as `language=multi`, stays.
      if (!asked.searchParams.has('language') && !asked.searchParams.has('detect_language')) {
        if (hint === null) asked.searchParams.set('detect_language', 'true');
        else asked.searchParams.set('language', hint);
      }
      return { url: asked, headers, body: file };
    },
    read: readDeepgramAnswer,
  };
}

export function readDeepgramAnswer(body: string): ServerAnswer | null {
  const answer = parse(body);
  if (answer === null) return null;
  const { channels, utterances } = answer.results;
  const { detected_language: language, language_confidence: probability, alternatives } = channels[0]!;
  const [best] = alternatives;
  const words = best?.words ?? [];
  const whole =
    best === undefined || words.length === 0
      ? []
      : [
          {
            text: best.transcript,
            start: words[0]!.start,
            end: words.at(-1)!.end,
            confidence: best.confidence,
          },
        ];
  return {
    text: best?.transcript ?? '',
    language,
    language_probability: probability,
    segments:
      utterances === null || utterances === undefined || utterances.length === 0
        ? whole
        : utterances.map(({ transcript, ...rest }) => ({ text: transcript, ...rest })),
  };
}

function parse(body: string): z.infer<typeof DeepgramAnswer> | null {
  try {
    return DeepgramAnswer.safeParse(JSON.parse(body)).data ?? null;
  } catch {
    return null;
  }
}
