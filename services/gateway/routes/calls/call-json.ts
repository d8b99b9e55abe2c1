import type { CallDetail } from '@call-analysis/api/calls';
import type { ReviewedAnalysis } from '@call-analysis/events';
import type { GetCallRequestInit } from '@call-analysis/proto/ingest/v1/GetCallRequest';
import type { z } from 'zod';
import { readAnswer, type Services } from '../rpc-caller.ts';
import type { AddChoices } from './answer-choices.ts';

/** A call as ingest shows it. */
export type StoredCall = Omit<z.output<typeof CallDetail>, 'analyses' | 'analysis'> & {
  readonly analyses: readonly ReviewedAnalysis[];
};

/** A call, also one that does not fit into a message, with its version. No call where the caller has this version. */
export async function readCall(catalogue: Services['ingest'], request: GetCallRequestInit) {
  const { version, is_large, json } = await catalogue.getCall(request);
  if (version !== undefined && version === request.known_version) return { version, call: null };
  if (is_large !== true) return { version, call: readAnswer<StoredCall>({ ...(json && { json }) }) };
  const pieces: Buffer[] = [];
  for await (const { data } of catalogue.readLargeCall(request)) pieces.push(data);
  return { version, call: readAnswer<StoredCall>({ json: Buffer.concat(pieces) }) };
}

/** The call as the API shows it. Ingest has its analyses newest first, and the newest is the current one. */
export async function callDetail(
  { audio, ...call }: StoredCall,
  absolute: (url: string) => string,
  withChoices: (analyses: readonly ReviewedAnalysis[]) => ReturnType<AddChoices>,
) {
  const analyses = await withChoices(call.analyses);
  return { ...call, audio: audio && { ...audio, url: absolute(audio.url) }, analysis: analyses[0] ?? null, analyses };
}
