import { setTimeout as delay } from 'node:timers/promises';
import type { Language } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { answers, openSpeechServer, type SpeechServer } from '../../test/speech-server.ts';
import { loudnessActivity, voice } from '../../test/voices.ts';
import { transcribeRecording } from '../../workers/transcribe-recording.ts';
import { engineContract, segmentOf } from '../contract.ts';
import type { SpeechEngine, TimedText } from '../speech-engine.ts';
import { type Provider, PROVIDERS } from './providers.ts';
import { type ServerConfig, serverEngine } from './server-engine.ts';

// Short pauses; an attempt times out only where a test shortens the limit.
const fastRetry = { backOffMs: 4, maxPauseMs: 300, timeoutMs: 600_000, timeoutMsPerSecond: 0 };
const never = new AbortController().signal;

/** A server's answer in the form of its API. */
function answerOf(provider: Provider, texts: readonly TimedText[], language: string | undefined): unknown {
  const text = texts.map((each) => each.text).join(' ');
  if (provider !== 'deepgram') {
    const segments = texts.map(({ confidence, ...each }) => ({
      ...each,
      ...(confidence !== undefined && { avg_logprob: Math.log(confidence) }),
    }));
    return { text, language, segments };
  }
  const words = texts.map(({ start, end }) => ({ word: 'x', start, end, confidence: 0.9 }));
  return {
    metadata: { request_id: 'r', channels: 1 },
    results: {
      channels: [
        {
          detected_language: language,
          language_confidence: 0.95,
          alternatives: [{ transcript: text, confidence: 0.9, words }],
        },
      ],
      utterances: texts.map((each) => ({
        start: each.start,
        end: each.end,
        confidence: each.confidence ?? 0.9,
        transcript: each.text,
        words: [],
      })),
    },
  };
}

/** Where there is sound in a WAV file, in seconds. */
function soundsIn(wav: Buffer): [start: number, end: number][] {
  const found: [number, number][] = [];
  const step = 160;
  for (let at = 0; 44 + 2 * (at + step) <= wav.length; at += step) {
    let loudest = 0;
    for (let sample = at; sample < at + step; sample++)
      loudest = Math.max(loudest, Math.abs(wav.readInt16LE(44 + 2 * sample)));
    if (loudest < 100) continue;
    const seconds = at / 16_000;
    const last = found.at(-1);
    if (last !== undefined && seconds - last[1] < 0.05) last[1] = seconds + step / 16_000;
    else found.push([seconds, seconds + step / 16_000]);
  }
  return found;
}

for (const provider of PROVIDERS) {
  engineContract(provider, async ({ concurrency }) => {
    const server = await openSpeechServer();
    const engine = serverEngine({
      provider,
      url: server.url,
      model: 'whisper-1',
      concurrency,
      retry: { ...fastRetry, attempts: 2 },
    });
    return {
      engine,
      returns(texts, { language, afterMs = 0 } = {}) {
        server.script(async (...given) => {
          await delay(afterMs);
          await answers(answerOf(provider, texts, language))(...given);
        });
      },
      hangs: () => server.script(() => {}),
      fails: () => server.script(answers('Internal Server Error', { status: 500 })),
      received: () => ({ segments: server.requests.length, maxConcurrent: server.maxConcurrent() }),
      async close() {
        await engine.close();
        await server.close();
      },
    };
  });
}

describe('a speech server', () => {
  const hello = { language: 'english', text: 'Hello there.', segments: [{ start: 0, end: 1, text: ' Hello there.' }] };
  let server: SpeechServer;
  const engines: SpeechEngine[] = [];

  beforeEach(async () => {
    server = await openSpeechServer();
  });

  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
    await server.close();
  });

  function open(config: Partial<ServerConfig> = {}): SpeechEngine {
    const engine = serverEngine({
      provider: 'openai',
      url: server.url,
      model: 'whisper-1',
      ...config,
      retry: { ...fastRetry, ...config.retry },
    });
    engines.push(engine);
    return engine;
  }

  function transcribe(engine: SpeechEngine, language: Language | null = null, seconds = 2) {
    return engine.transcribe(segmentOf(seconds), { language, signal: never });
  }

  it('sends a WAV file, the model, the key and, when known, the language', async () => {
    server.script(answers(hello));
    await transcribe(open({ apiKey: 'sk-test' }), 'en', 0.5);
    const [received] = server.requests;
    expect(received).toMatchObject({
      method: 'POST',
      path: '/v1/audio/transcriptions',
      headers: { authorization: 'Bearer sk-test' },
    });
    expect(received!.fields).toEqual({
      model: 'whisper-1',
      response_format: 'verbose_json',
      temperature: '0',
      language: 'en',
    });
    expect(received!.file).toMatchObject({ name: 'segment.wav', type: 'audio/wav' });
    expect(received!.file.bytes.length).toBe(44 + 16_000);
    await transcribe(open());
    expect(server.requests[1]!.fields).not.toHaveProperty('language');
    expect(server.requests[1]!.headers.authorization).toBeUndefined();
  });

  it('is named after its model', () => {
    expect(open({ model: 'large-v3' }).name).toBe('openai:large-v3');
  });

  it('reads an answer without segments as one utterance over the complete segment', async () => {
    server.script(answers({ text: ' All at once. ' }), answers({ text: 'All at once.', segments: [] }));
    const expected = { utterances: [{ text: 'All at once.', start: 0, end: 2 }], language: null };
    const engine = open();
    await expect(transcribe(engine)).resolves.toEqual(expected);
    await expect(transcribe(engine)).resolves.toEqual(expected);
  });

  it('reads an answer with any content type', async () => {
    server.script(answers(hello, { headers: { 'content-type': 'text/html' } }));
    await expect(transcribe(open())).resolves.toMatchObject({ language: 'en', utterances: [{ text: 'Hello there.' }] });
  });

  describe('retries', () => {
    it.each([408, 429, 500, 502, 503, 504])('after status %d', async (status) => {
      server.script(answers('busy', { status }), answers('busy', { status }), answers(hello));
      await expect(transcribe(open())).resolves.toMatchObject({ utterances: [{ text: 'Hello there.' }] });
      expect(server.requests).toHaveLength(3);
    });

    it('after a connection reset, before or during the answer', async () => {
      server.script(
        (_received, _response, request) => void request.socket.resetAndDestroy(),
        (_received, response) => {
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
          response.write('{"text": "Hel');
          setTimeout(() => response.socket?.resetAndDestroy(), 10);
        },
        answers(hello),
      );
      await expect(transcribe(open())).resolves.toMatchObject({ utterances: [{ text: 'Hello there.' }] });
      expect(server.requests).toHaveLength(3);
    });

    it.each([
      ['truncated JSON', '{"text": "Hel'],
      ['a page of HTML', '<!doctype html><title>Welcome</title>'],
      ['JSON of another kind', { error: { message: 'what?' } }],
      ['an empty body', ''],
      ['times that are not numbers', { text: 'x', segments: [{ start: '0', end: null, text: 'x' }] }],
    ])('after %s instead of a transcription', async (_name, body) => {
      server.script(answers(body), answers(hello));
      await expect(transcribe(open())).resolves.toMatchObject({ utterances: [{ text: 'Hello there.' }] });
    });

    it('after a time-out, before or during the answer', async () => {
      server.script(
        () => {},
        (_received, response) => void response.writeHead(200).write('{'),
        answers(hello),
      );
      // Enough attempts that a busy machine answers one of them in time.
      const engine = open({ retry: { timeoutMs: 300, attempts: 100, maxPauseMs: 20 } });
      await expect(transcribe(engine)).resolves.toMatchObject({ utterances: [{ text: 'Hello there.' }] });
      expect(server.requests.length).toBeGreaterThanOrEqual(3);
    });

    it('and gives a long segment more time', async () => {
      // Answers only long segments, and later than the time limit of short ones.
      server.script(async (received, ...rest) => {
        if (received.file.bytes.length < 1000) return;
        await delay(120);
        await answers(hello)(received, ...rest);
      });
      const engine = open({ retry: { timeoutMs: 30, timeoutMsPerSecond: 3000, attempts: 1 } });
      await expect(transcribe(engine, null, 0.01)).rejects.toMatchObject({
        code: 'ENGINE_UNAVAILABLE',
        message: expect.stringMatching('in time'),
      });
      await expect(transcribe(engine, null, 10)).resolves.toMatchObject({ language: 'en' });
    });

    it('a limited number of times, then reports that the engine is unavailable', async () => {
      server.script(answers('busy', { status: 503 }));
      await expect(transcribe(open({ retry: { attempts: 3 } }))).rejects.toMatchObject({
        kind: 'unavailable',
        code: 'ENGINE_UNAVAILABLE',
      });
      expect(server.requests).toHaveLength(3);
    });

    it('when nothing listens at the URL, then reports that the engine is unavailable', async () => {
      // No system assigns this port by chance; a port that was just closed could be reassigned.
      const engine = open({ url: 'http://127.0.0.1:2', retry: { attempts: 2 } });
      await expect(transcribe(engine)).rejects.toMatchObject({ kind: 'unavailable', code: 'ENGINE_UNAVAILABLE' });
    });

    it('with increasing pauses', async () => {
      server.script(answers('busy', { status: 500 }));
      await transcribe(open({ retry: { attempts: 4, backOffMs: 40 } })).catch(() => {});
      const pauses = server.requests.slice(1).map(({ at }, index) => at - server.requests[index]!.at);
      for (const [index, pause] of pauses.entries()) expect(pause).toBeGreaterThanOrEqual(20 * 2 ** index - 2);
    });

    it('no earlier than Retry-After asks for', async () => {
      server.script(answers('slow down', { status: 503, headers: { 'retry-after': '0.1' } }), answers(hello));
      await transcribe(open());
      expect(server.requests[1]!.at - server.requests[0]!.at).toBeGreaterThanOrEqual(98);
    });

    it('after the longest pause at the latest, even if Retry-After is longer', async () => {
      server.script(answers('slow down', { status: 429, headers: { 'retry-after': '86400' } }), answers(hello));
      const result = await transcribe(open({ retry: { maxPauseMs: 100 } }));
      expect(result).toMatchObject({ utterances: [{ text: 'Hello there.' }] });
    });

    it('and delays the other segments too while a Retry-After is in force', async () => {
      server.script(answers('slow down', { status: 429, headers: { 'retry-after': '0.2' } }), answers(hello));
      // Only after its single attempt has failed is it certain that the engine has read the header.
      const engine = open({ retry: { attempts: 1 } });
      await expect(transcribe(engine)).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
      await Promise.all([transcribe(engine), transcribe(engine)]);
      const [first, ...others] = server.requests;
      expect(Math.min(...others.map(({ at }) => at)) - first!.at).toBeGreaterThanOrEqual(195);
    });

    it('but stops during a pause when its signal aborts', async () => {
      server.script(answers('slow down', { status: 429, headers: { 'retry-after': '60' } }));
      const stop = new AbortController();
      const engine = open({ retry: { maxPauseMs: 60_000 } });
      const result = engine.transcribe(segmentOf(1), { language: null, signal: stop.signal });
      await waitUntil(() => server.requests.length === 1);
      setTimeout(() => stop.abort(new Error('enough')), 50);
      await expect(result).rejects.toThrow('enough');
    });
  });

  describe('gives up immediately', () => {
    it.each([
      [
        'a key that is refused',
        401,
        'Incorrect API key provided: sk-very-secret.',
        'ENGINE_MISCONFIGURED',
        'SPEECH_API_KEY',
      ],
      ['a key without permission', 403, '{"error":"sk-very-secret"}', 'ENGINE_MISCONFIGURED', 'SPEECH_API_KEY'],
      ['a URL without transcriptions', 404, 'Not Found', 'ENGINE_MISCONFIGURED', 'SPEECH_URL'],
      [
        'a model that does not exist',
        404,
        '{"error":{"message":"The model `x` does not exist"}}',
        'ENGINE_MISCONFIGURED',
        'SPEECH_MODEL',
      ],
      [
        'a model that is refused',
        400,
        '{"error":{"message":"invalid model ID sk-very-secret"}}',
        'ENGINE_MISCONFIGURED',
        'SPEECH_MODEL',
      ],
      ['bodies that are too large', 413, '', 'ENGINE_MISCONFIGURED', 'SPEECH_MAX_BYTES'],
      [
        'files that are too large for vLLM',
        400,
        '{"error":{"message":"Maximum file size exceeded"}}',
        'ENGINE_MISCONFIGURED',
        'SPEECH_MAX_BYTES',
      ],
      ['an exhausted quota', 429, '{"error":{"code":"insufficient_quota"}}', 'ENGINE_MISCONFIGURED', 'quota'],
      ['a method that is not allowed', 405, '', 'ENGINE_MISCONFIGURED', 'SPEECH_URL'],
      ['WAV files that are not accepted', 415, '', 'ENGINE_MISCONFIGURED', 'SPEECH_PROVIDER'],
      [
        'a deployment that does not exist',
        404,
        '{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}',
        'ENGINE_MISCONFIGURED',
        'SPEECH_MODEL',
      ],
      [
        'a model that the key may not use',
        403,
        '{"err_code":"INSUFFICIENT_PERMISSIONS","err_msg":"Your account cannot use this model."}',
        'ENGINE_MISCONFIGURED',
        'SPEECH_MODEL',
      ],
      [
        'a model that does not know any language',
        400,
        '{"err_code":"Bad Request","err_msg":"No such model/language/tier combination found."}',
        'ENGINE_MISCONFIGURED',
        'SPEECH_MODEL',
      ],
      ['an unpaid bill', 402, '{"err_code":"ASR_PAYMENT_REQUIRED"}', 'ENGINE_MISCONFIGURED', 'quota'],
      ['a recording that is not accepted', 422, '{"error":"could not be decoded"}', 'ENGINE_REFUSED', '422'],
    ])('on %s, with a sentence for the operator', async (_name, status, body, code, word) => {
      server.script(answers(body, { status }));
      const fault = await transcribe(open({ apiKey: 'sk-very-secret' })).catch((error: unknown) => error);
      expect(fault).toMatchObject({ code, kind: code === 'ENGINE_REFUSED' ? 'invalid' : 'unavailable' });
      expect((fault as Error).message).toContain(word);
      expect(`${(fault as Error).message} ${String((fault as Error).cause)}`).not.toContain('sk-very-secret');
      expect(server.requests).toHaveLength(1);
    });

    it("and logs the error's names, not its sentences, which may quote a conversation", async () => {
      const error = {
        message: 'no words for: my card is 8600',
        type: 'invalid_request_error',
        code: 'my card is 8600',
      };
      server.script(answers(JSON.stringify({ error }), { status: 404 }));
      await expect(transcribe(open())).rejects.toMatchObject({
        cause: { message: 'status 404, invalid_request_error' },
      });
    });

    it('on a redirect, which it does not follow', async () => {
      const elsewhere = await openSpeechServer();
      server.script(answers('', { status: 307, headers: { location: `${elsewhere.url}/v1/audio/transcriptions` } }));
      await expect(transcribe(open())).rejects.toMatchObject({ code: 'ENGINE_MISCONFIGURED' });
      expect(elsewhere.requests).toHaveLength(0);
      await elsewhere.close();
    });
  });

  it('gets long speech in requests that it accepts, cut between words, and every word is in the transcript once, at its time', async () => {
    const words = Array.from({ length: 90 }, (_, index) => [0.5 * index + 0.5, 0.5 * index + 0.88] as const);
    const maxRequestBytes = 300_000;
    const sizes: number[] = [];
    server.script(async (received, ...rest) => {
      sizes.push(Number(received.headers['content-length']));
      const segments = soundsIn(received.file.bytes).map(([start, end]) => ({ start, end, text: 'word' }));
      await answers({ text: '', segments })(received, ...rest);
    });
    const engine = open({ maxRequestBytes });
    const left = voice(46, 1, words);
    async function* recording(): AsyncGenerator<[Float32Array, Float32Array]> {
      for (let at = 0; at < left.length; at += 8000)
        yield [left.slice(at, at + 8000), new Float32Array(left.slice(at, at + 8000).length)];
    }
    const heard: TimedText[][] = [];
    const { utterances } = await transcribeRecording(recording(), {
      activity: loudnessActivity,
      transcriber: {
        maxSegmentSeconds: engine.maxSegmentSeconds,
        async transcribe(samples) {
          heard.push((await engine.transcribe({ samples }, { language: null, signal: never })).utterances);
        },
        finish: async () => ({ engine: engine.name, language: null, segments: heard }),
      },
    });
    expect(sizes.length).toBeGreaterThan(4);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(maxRequestBytes);
    expect(utterances).toHaveLength(words.length);
    for (const [index, { start, end }] of utterances.entries()) {
      expect(Math.abs(start - words[index]![0])).toBeLessThan(0.05);
      expect(Math.abs(end - words[index]![1])).toBeLessThan(0.05);
    }
  });

  it('stops reading an answer that is too long for a transcription', async () => {
    let sent = 0;
    server.script((_received, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const part = 'x'.repeat(65_536);
      const more = () => {
        while (sent < 100 * 1024 * 1024 && !response.destroyed) {
          sent += part.length;
          if (!response.write(part)) return void response.once('drain', more);
        }
      };
      more();
    });
    await expect(transcribe(open({ retry: { attempts: 1 } }))).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    expect(sent).toBeLessThan(20 * 1024 * 1024);
  });

  it('requests plain text from then on when the model does not return segments', async () => {
    server.script(
      answers(
        { error: { message: "response_format 'verbose_json' is not compatible with model 'gpt-4o-transcribe'" } },
        { status: 400 },
      ),
      answers({ text: 'Hello there.' }),
    );
    const engine = open();
    await expect(transcribe(engine)).resolves.toMatchObject({
      utterances: [{ text: 'Hello there.', start: 0, end: 2 }],
    });
    await transcribe(engine);
    expect(server.requests.map(({ fields }) => fields.response_format)).toEqual(['verbose_json', 'json', 'json']);
  });

  it('requests plain text when vLLM fails to name the language in its verbose answer', async () => {
    const message = '1 validation error for TranscriptionResponseVerbose: language: Input should be a valid string';
    server.script(answers({ error: { message } }, { status: 400 }), answers({ text: 'Hello there.' }));
    await expect(transcribe(open())).resolves.toMatchObject({ utterances: [{ text: 'Hello there.' }] });
    expect(server.requests.map(({ fields }) => fields.response_format)).toEqual(['verbose_json', 'json']);
  });

  it('lets the server detect the language when it answers 400 or 500 to the language code', async () => {
    const refusal = answers({ error: { message: "Language 'ky' is not supported." } }, { status: 400 });
    server.script(
      refusal,
      answers(hello),
      answers(hello),
      answers('Internal Server Error', { status: 500 }),
      answers(hello),
    );
    const engine = open();
    await transcribe(engine, 'ky');
    await transcribe(engine, 'ky');
    await transcribe(engine, 'uz');
    expect(server.requests.map(({ fields }) => fields.language)).toEqual(['ky', undefined, undefined, 'uz', undefined]);
  });

  it('repeats a segment at a higher temperature when the answer is a loop, and drops the loop when it persists', async () => {
    const loop = {
      text: 'a',
      segments: [{ start: 0, end: 2, text: '1,5,5,5,5,5', compression_ratio: 15 }, ...hello.segments],
    };
    server.script(answers(loop), answers(hello));
    const engine = open();
    await expect(transcribe(engine)).resolves.toMatchObject({ utterances: [{ text: 'Hello there.' }] });
    expect(server.requests.map(({ fields }) => fields.temperature)).toEqual(['0', '0.4']);
    server.script(answers(loop));
    await expect(transcribe(engine)).resolves.toMatchObject({ utterances: [{ text: 'Hello there.' }] });
    server.script(answers({ text: 'да '.repeat(200) }));
    await expect(transcribe(engine)).resolves.toMatchObject({ utterances: [] });
    expect(server.requests).toHaveLength(6);
  });

  it('bounds its concurrent requests, first come, first served', async () => {
    const order: number[] = [];
    server.script(async (received, response) => {
      order.push(received.file.bytes.length);
      await delay(15);
      await answers(hello)(received, response, response.req);
    });
    const engine = open({ concurrency: 1 });
    await Promise.all([0.1, 0.2, 0.3, 0.4].map((seconds) => transcribe(engine, null, seconds)));
    expect(server.maxConcurrent()).toBe(1);
    expect(order).toEqual([...order].sort((one, other) => one - other));
  });
});
