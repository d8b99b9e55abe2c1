import { describe, expect, it } from '@jest/globals';
import { type Provider, protocolOf, readDeepgramAnswer } from './providers.ts';

const question = { file: new Blob(['sound']), hint: null, temperature: 0, wantsSegments: true };

function requestTo(provider: Provider, url: string, asked: Partial<typeof question> | { hint: 'ru' } = {}) {
  const { request } = protocolOf(provider, { url, model: 'my model', apiKey: 'key' });
  return request({ ...question, ...asked });
}

describe("OpenAI's API", () => {
  it.each([
    ['http://h', 'http://h/v1/audio/transcriptions'],
    ['http://h/', 'http://h/v1/audio/transcriptions'],
    ['http://h:1/v1', 'http://h:1/v1/audio/transcriptions'],
    ['http://h/v1/', 'http://h/v1/audio/transcriptions'],
    ['https://h/openai/v1', 'https://h/openai/v1/audio/transcriptions'],
    ['https://h/behind/', 'https://h/behind/v1/audio/transcriptions'],
    ['https://h/v1/audio/transcriptions', 'https://h/v1/audio/transcriptions'],
    ['https://h/v1/audio/transcriptions/?v=2', 'https://h/v1/audio/transcriptions?v=2'],
  ])('is found at %s', (url, expected) => {
    expect(requestTo('openai', url).url.href).toBe(expected);
  });
});

describe("Azure's API", () => {
  const path = 'openai/deployments/my%20model/audio/transcriptions?api-version=2024-10-21';

  it.each([
    ['https://acme.openai.azure.com', `https://acme.openai.azure.com/${path}`],
    ['https://acme.openai.azure.com/openai/', `https://acme.openai.azure.com/${path}`],
    ['https://acme.openai.azure.com/openai/deployments', `https://acme.openai.azure.com/${path}`],
    [
      'https://h/openai/deployments/mine?api-version=2025-03-01-preview',
      'https://h/openai/deployments/mine/audio/transcriptions?api-version=2025-03-01-preview',
    ],
    [
      'https://h/openai/deployments/mine/audio/transcriptions?api-version=1',
      'https://h/openai/deployments/mine/audio/transcriptions?api-version=1',
    ],
    ['https://h/openai/v1/', 'https://h/openai/v1/audio/transcriptions'],
  ])('is found at %s', (url, expected) => {
    expect(requestTo('azure', url).url.href).toBe(expected);
  });

  it('gets the key in a header of its own', () => {
    expect(requestTo('azure', 'https://h').headers).toEqual({ 'api-key': 'key' });
  });
});

describe("Deepgram's API", () => {
  const query = 'model=my+model&smart_format=true&utterances=true&detect_language=true';

  it.each([
    ['https://api.deepgram.com', `https://api.deepgram.com/v1/listen?${query}`],
    ['https://api.deepgram.com/v1/', `https://api.deepgram.com/v1/listen?${query}`],
    ['http://h/v1/listen', `http://h/v1/listen?${query}`],
  ])('is found at %s', (url, expected) => {
    expect(requestTo('deepgram', url).url.href).toBe(expected);
  });

  it('gets the WAV file as the body, with the key and, when known, the language', async () => {
    const { url, headers, body } = requestTo('deepgram', 'https://h', { hint: 'ru' });
    expect(headers).toEqual({ 'content-type': 'audio/wav', authorization: 'Token key' });
    expect(await (body as Blob).text()).toBe('sound');
    expect(url.searchParams.get('language')).toBe('ru');
    expect(url.searchParams.has('detect_language')).toBe(false);
  });

  it("keeps the operator's own parameters", () => {
    const { url } = requestTo('deepgram', 'https://h?language=multi&smart_format=false&mip_opt_out=true', {
      hint: 'ru',
    });
    expect(url.search).toBe('?language=multi&smart_format=false&mip_opt_out=true&model=my+model&utterances=true');
  });

  it('answers with utterances, or with a transcript and the times of its words', () => {
    const words = [
      { word: 'good', start: 0.4, end: 0.6, confidence: 0.9 },
      { word: 'morning', start: 0.7, end: 1.1, confidence: 0.8 },
    ];
    const channels = [
      {
        detected_language: 'en',
        language_confidence: 0.98,
        alternatives: [{ transcript: 'Good morning.', confidence: 0.9, words }],
      },
    ];
    const heard = { text: 'Good morning.', start: 0.4, end: 1.1, confidence: 0.9 };
    const expected = { text: 'Good morning.', language: 'en', language_probability: 0.98, segments: [heard] };
    const utterances = [{ start: 0.4, end: 1.1, confidence: 0.9, channel: 0, transcript: 'Good morning.', words }];
    expect(readDeepgramAnswer(JSON.stringify({ results: { channels, utterances } }))).toEqual(expected);
    expect(readDeepgramAnswer(JSON.stringify({ results: { channels } }))).toEqual(expected);
  });

  it.each(['', 'x', '{}', '{"text":"x"}', '{"results":{"channels":[]}}', '{"results":{"channels":[{}]}}'])(
    'does not answer %s',
    (body) => expect(readDeepgramAnswer(body)).toBeNull(),
  );
});
