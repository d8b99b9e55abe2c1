import type { Language } from '@call-analysis/events';
import { z } from 'zod';
import { engineMisconfigured, parsed } from '../speech-engine.ts';
import { readAnswer, type ServerAnswer } from './answer.ts';

/** The request for one segment. */
export interface Question {
  /** A WAV file. */
  readonly file: Blob;
  /** The language to send; null lets the server detect it. */
  readonly hint: Language | null;
  readonly temperature: number;
  /** Whether to ask for segments with times, which some servers refuse. */
  readonly wantsSegments: boolean;
}

/** How servers of one kind are asked, and how their answers are read. */
interface Protocol {
  /** Whether another answer can be had at a higher temperature. */
  readonly hasTemperature: boolean;
  request(question: Question): {
    readonly url: URL;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: FormData | Blob;
  };
  /** Null when the body is not a transcription. */
  read(body: string): ServerAnswer | null;
}

export interface ServerAddress {
  /**
   * The root URL of the server, the URL of its API, or the complete URL. Query parameters are sent with every request.
   */
  readonly url: string;
  readonly model: string;
  readonly apiKey?: string | undefined;
}

/** The kinds of speech servers, by the API that they have. */
export const PROVIDERS = ['openai', 'azure', 'deepgram'] as const;
export type Provider = (typeof PROVIDERS)[number];

/** The limits of hosted services of this kind. */
export const MAX_REQUEST_BYTES: Readonly<Record<Provider, number>> = {
  openai: 25 * 2 ** 20,
  azure: 25 * 2 ** 20,
  deepgram: 2 * 2 ** 30,
};

const protocols: Readonly<Record<Provider, (address: ServerAddress, url: URL) => Protocol>> = {
  openai: openaiProtocol,
  azure: azureProtocol,
  deepgram: deepgramProtocol,
};

/** Fault ENGINE_MISCONFIGURED when the address is not an http or https URL. */
export function protocolOf(provider: Provider, address: ServerAddress): Protocol {
  if (!URL.canParse(address.url) || !/^https?:$/.test(new URL(address.url).protocol))
    throw engineMisconfigured('SPEECH_URL is not an http or https URL.');
  const url = new URL(address.url);
  url.hash = '';
  url.pathname = url.pathname.replace(/\/+$/, '');
  return protocols[provider](address, url);
}

const AZURE = /\.(openai|cognitiveservices|services\.ai)\.azure\.(com|us|cn)$/;

/** The kind of server that has a URL. A server whose URL says nothing is taken for one with OpenAI's API. */
export function providerOf(address: string): Provider {
  if (!URL.canParse(address)) return 'openai';
  const { hostname, pathname } = new URL(address);
  if (/(^|\.)deepgram\.com$/.test(hostname) || /\/v1\/listen\/*$/.test(pathname)) return 'deepgram';
  return AZURE.test(hostname) || pathname.includes('/openai/deployments/') ? 'azure' : 'openai';
}

/** OpenAI's transcription API, which many servers have. */
function openaiProtocol({ model, apiKey }: ServerAddress, url: URL): Protocol {
  completePath(url, '/audio/transcriptions');
  return formProtocol(url, model, apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` });
}

/** The newest version that is not a preview. Newer models need a later one, which SPEECH_URL can name. */
const AZURE_API_VERSION = '2024-10-21';

/** The same API as Azure serves it: a path for each deployment, the key in a header of its own, and a version. */
function azureProtocol({ model, apiKey }: ServerAddress, url: URL): Protocol {
  const path = url.pathname.replace(/\/$/, '');
  if (!path.endsWith('/audio/transcriptions')) {
    const isComplete = /\/openai\/(v1|deployments\/[^/]+)$/.test(path);
    const deployment = `/openai/deployments/${encodeURIComponent(model)}`;
    url.pathname = `${isComplete ? path : path.replace(/\/openai(\/deployments)?$/, '') + deployment}/audio/transcriptions`;
  }
  if (!url.pathname.includes('/openai/v1/') && !url.searchParams.has('api-version'))
    url.searchParams.set('api-version', AZURE_API_VERSION);
  return formProtocol(url, model, apiKey === undefined ? {} : { 'api-key': apiKey });
}

function formProtocol(url: URL, model: string, headers: Readonly<Record<string, string>>): Protocol {
  return {
    hasTemperature: true,
    request({ file, hint, temperature, wantsSegments }) {
      const form = new FormData();
      form.append('file', file, 'segment.wav');
      form.append('model', model);
      form.append('response_format', wantsSegments ? 'verbose_json' : 'json');
      form.append('temperature', String(temperature));
      if (hint !== null) form.append('language', hint);
      return { url, headers, body: form };
    },
    read: readAnswer,
  };
}

/** Deepgram's API for recordings: the WAV file is the body, everything else is in the query. */
function deepgramProtocol({ model, apiKey }: ServerAddress, url: URL): Protocol {
  completePath(url, '/listen');
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

function completePath(url: URL, method: string): void {
  if (url.pathname.endsWith(method)) return;
  const path = url.pathname.replace(/\/$/, '');
  url.pathname = `${path}${path.endsWith('/v1') ? '' : '/v1'}${method}`;
}

const Time = z.object({ start: z.number(), end: z.number() });
const Confidence = z.number().nullish();
const Alternative = z.object({
  transcript: z.string(),
  confidence: Confidence,
  words: z.array(Time).max(10_000).nullish(),
});
const Channel = z.object({
  detected_language: z.string().nullish(),
  language_confidence: Confidence,
  alternatives: z.array(Alternative),
});
const DeepgramAnswer = z.object({
  results: z.object({
    channels: z.array(Channel).min(1),
    utterances: z
      .array(Time.extend({ transcript: z.string(), confidence: Confidence }))
      .max(5000)
      .nullish(),
  }),
});

export function readDeepgramAnswer(body: string): ServerAnswer | null {
  const answer = parsed(DeepgramAnswer, body);
  if (answer === null) return null;
  const { channels, utterances } = answer.results;
  const { detected_language: language, language_confidence: probability, alternatives } = channels[0]!;
  const [best] = alternatives;
  const [first, ...others] = best?.words ?? [];
  const whole =
    best === undefined || first === undefined
      ? []
      : [{ ...best, start: first.start, end: (others.at(-1) ?? first).end }];
  const said = utterances?.length ? utterances : whole;
  return {
    text: best?.transcript ?? '',
    language,
    language_probability: probability,
    segments: said.map(({ transcript: text, start, end, confidence }) => ({ text, start, end, confidence })),
  };
}
