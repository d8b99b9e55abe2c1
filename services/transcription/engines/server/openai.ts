import { readAnswer } from './answer.ts';
import type { Protocol, Question, ServerAddress } from './protocol.ts';

/** OpenAI's transcription API, which many servers have. */
export function openaiProtocol({ model, apiKey }: ServerAddress, url: URL): Protocol {
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
export function azureProtocol({ model, apiKey }: ServerAddress, url: URL): Protocol {
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
