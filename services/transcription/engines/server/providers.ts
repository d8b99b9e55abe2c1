import { engineMisconfigured } from '../speech-engine.ts';
import { readAnswer } from './answer.ts';
import { deepgramProtocol } from './deepgram.ts';
import type { Protocol, Question, ServerAddress } from './protocol.ts';

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
  if (!url.pathname.endsWith('/audio/transcriptions')) {
    const path = url.pathname.replace(/\/$/, '');
    url.pathname = `${path}${path.endsWith('/v1') ? '' : '/v1'}/audio/transcriptions`;
  }
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return {
    hasTemperature: true,
    request: (question) => ({ url, headers, body: formOf(question, model) }),
    read: readAnswer,
  };
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
  const headers: Record<string, string> = apiKey === undefined ? {} : { 'api-key': apiKey };
  return {
    hasTemperature: true,
    request: (question) => ({ url, headers, body: formOf(question, model) }),
    read: readAnswer,
  };
}

function formOf({ file, hint, temperature, wantsSegments }: Question, model: string): FormData {
  const form = new FormData();
  form.append('file', file, 'segment.wav');
  form.append('model', model);
  form.append('response_format', wantsSegments ? 'verbose_json' : 'json');
  form.append('temperature', String(temperature));
  if (hint !== null) form.append('language', hint);
  return form;
}
