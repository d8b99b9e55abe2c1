import { engineMisconfigured } from '../faults.ts';
import { deepgramProtocol } from './deepgram.ts';
import { azureProtocol, openaiProtocol } from './openai.ts';
import type { Protocol, ServerAddress } from './protocol.ts';

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
