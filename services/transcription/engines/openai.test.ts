import { setTimeout as delay } from 'node:timers/promises';
import type { Language } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { SpeechEngine } from '../engine.ts';
import { engineContract, pieceOf } from './contract.ts';
import { type OpenaiConfig, openaiEngine, transcriptionsAddress } from './openai.ts';
import { answers, openSpeechServer, type SpeechServer } from './speech-server-under-test.ts';

// Pauses are short; a try ends by itself only where a test says so.
const hurried = { backOffMs: 4, longestPauseMs: 300, tryMs: 600_000, tryMsPerSecond: 0 };
const never = new AbortController().signal;

engineContract('openai', async ({ concurrency }) => {
  const server = await openSpeechServer();
  const engine = openaiEngine({ url: server.url, model: 'whisper-1', concurrency, patience: { ...hurried, tries: 2 } });
  return {
    engine,
    says(heard, { language, afterMs = 0 } = {}) {
      server.does(async (...given) => {
        await delay(afterMs);
        await answers({ text: heard.map(({ text }) => text).join(' '), language, segments: heard })(...given);
      });
    },
    hangs: () => server.does(() => {}),
    fails: () => server.does(answers('Internal Server Error', { status: 500 })),
    seen: () => ({ pieces: server.asked.length, mostAtOnce: server.mostAtOnce() }),
    async close() {
      await engine.close();
      await server.close();
    },
  };
});

describe('openai engine', () => {
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

  function open(config: Partial<OpenaiConfig> = {}): SpeechEngine {
    const engine = openaiEngine({
      url: server.url,
      model: 'whisper-1',
      ...config,
      patience: { ...hurried, ...config.patience },
    });
    engines.push(engine);
    return engine;
  }

  function hear(engine: SpeechEngine, language: Language | null = null, seconds = 2) {
    return engine.hear(pieceOf(seconds), { language, signal: never });
  }

  it('sends a WAV file, the model, the key and the language when it is known', async () => {
    server.does(answers(hello));
    await hear(open({ apiKey: 'sk-test' }), 'en', 0.5);
    const [asked] = server.asked;
    expect(asked).toMatchObject({ method: 'POST', path: '/v1/audio/transcriptions', authorization: 'Bearer sk-test' });
    expect(asked!.fields).toEqual({
      model: 'whisper-1',
      response_format: 'verbose_json',
      temperature: '0',
      language: 'en',
    });
    expect(asked!.file).toMatchObject({ name: 'piece.wav', type: 'audio/wav' });
    expect(asked!.file.bytes.length).toBe(44 + 16_000);
    await hear(open());
    expect(server.asked[1]!.fields).not.toHaveProperty('language');
    expect(server.asked[1]!.authorization).toBeUndefined();
  });

  it('is named after its model', () => {
    expect(open({ model: 'large-v3' }).name).toBe('openai:large-v3');
  });

  it.each([
    ['http://h', 'http://h/v1/audio/transcriptions'],
    ['http://h/', 'http://h/v1/audio/transcriptions'],
    ['http://h:1/v1', 'http://h:1/v1/audio/transcriptions'],
    ['http://h/v1/', 'http://h/v1/audio/transcriptions'],
    ['https://h/openai/v1', 'https://h/openai/v1/audio/transcriptions'],
    ['https://h/behind/', 'https://h/behind/v1/audio/transcriptions'],
    ['https://h/v1/audio/transcriptions', 'https://h/v1/audio/transcriptions'],
    ['https://h/v1/audio/transcriptions/?v=2', 'https://h/v1/audio/transcriptions?v=2'],
  ])('takes %s for a server', (url, address) => {
    expect(transcriptionsAddress(url).href).toBe(address);
  });

  it('takes an answer without segments for one utterance over the whole piece', async () => {
    server.does(answers({ text: ' All at once. ' }), answers({ text: 'All at once.', segments: [] }));
    const once = { utterances: [{ text: 'All at once.', start: 0, end: 2 }], language: null };
    const engine = open();
    await expect(hear(engine)).resolves.toEqual(once);
    await expect(hear(engine)).resolves.toEqual(once);
  });

  it('reads an answer whatever its content type says', async () => {
    server.does(answers(hello, { headers: { 'content-type': 'text/html' } }));
    await expect(hear(open())).resolves.toMatchObject({ language: 'en', utterances: [{ text: 'Hello there.' }] });
  });

  describe('tries again', () => {
    it.each([408, 429, 500, 502, 503, 504])('after status %d', async (status) => {
      server.does(answers('busy', { status }), answers('busy', { status }), answers(hello));
      await expect(hear(open())).resolves.toMatchObject({ utterances: [{ text: 'Hello there.' }] });
      expect(server.asked).toHaveLength(3);
    });

    it('after a connection that was reset, before or amid the answer', async () => {
      server.does(
        (_asked, _response, request) => void request.socket.resetAndDestroy(),
        (_asked, response) => {
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
          response.write('{"text": "Hel');
          setTimeout(() => response.socket?.resetAndDestroy(), 10);
        },
        answers(hello),
      );
      await expect(hear(open())).resolves.toMatchObject({ utterances: [{ text: 'Hello there.' }] });
      expect(server.asked).toHaveLength(3);
    });

    it.each([
      ['truncated JSON', '{"text": "Hel'],
      ['a page of HTML', '<!doctype html><title>Welcome</title>'],
      ['JSON of another kind', { error: { message: 'what?' } }],
      ['nothing', ''],
      ['times that are no numbers', { text: 'x', segments: [{ start: '0', end: null, text: 'x' }] }],
    ])('after %s instead of a transcription', async (_name, body) => {
      server.does(answers(body), answers(hello));
      await expect(hear(open())).resolves.toMatchObject({ utterances: [{ text: 'Hello there.' }] });
    });

    it('after a try that took too long, be it for the answer or amid it', async () => {
      server.does(
        () => {},
        (_asked, response) => void response.writeHead(200).write('{'),
        answers(hello),
      );
      // So many tries that a busy machine answers one of them in time.
      const engine = open({ patience: { tryMs: 300, tries: 100, longestPauseMs: 20 } });
      await expect(hear(engine)).resolves.toMatchObject({ utterances: [{ text: 'Hello there.' }] });
      expect(server.asked.length).toBeGreaterThanOrEqual(3);
    });

    it('and gives a long piece more time', async () => {
      // Answers what is long alone, and later than it would have to answer what is short.
      server.does(async (asked, ...rest) => {
        if (asked.file.bytes.length < 1000) return;
        await delay(120);
        await answers(hello)(asked, ...rest);
      });
      const engine = open({ patience: { tryMs: 30, tryMsPerSecond: 3000, tries: 1 } });
      await expect(hear(engine, null, 0.01)).rejects.toMatchObject({
        code: 'ENGINE_UNAVAILABLE',
        message: expect.stringMatching('in time'),
      });
      await expect(hear(engine, null, 10)).resolves.toMatchObject({ language: 'en' });
    });

    it('so often and no more, then says that the engine is unavailable', async () => {
      server.does(answers('busy', { status: 503 }));
      await expect(hear(open({ patience: { tries: 3 } }))).rejects.toMatchObject({
        kind: 'unavailable',
        code: 'ENGINE_UNAVAILABLE',
      });
      expect(server.asked).toHaveLength(3);
    });

    it('when nobody listens at the address, and then says so', async () => {
      // No system hands out this port by chance, as it may one that was just closed.
      const engine = open({ url: 'http://127.0.0.1:2', patience: { tries: 2 } });
      await expect(hear(engine)).rejects.toMatchObject({ kind: 'unavailable', code: 'ENGINE_UNAVAILABLE' });
    });

    it('with longer and longer pauses', async () => {
      server.does(answers('busy', { status: 500 }));
      await hear(open({ patience: { tries: 4, backOffMs: 40 } })).catch(() => {});
      const pauses = server.asked.slice(1).map(({ at }, index) => at - server.asked[index]!.at);
      for (const [index, pause] of pauses.entries()) expect(pause).toBeGreaterThanOrEqual(20 * 2 ** index - 2);
    });

    it('not before the time that Retry-After asks for', async () => {
      server.does(answers('slow down', { status: 503, headers: { 'retry-after': '0.1' } }), answers(hello));
      await hear(open());
      expect(server.asked[1]!.at - server.asked[0]!.at).toBeGreaterThanOrEqual(98);
    });

    it('no later than the longest pause, whatever Retry-After asks for', async () => {
      server.does(answers('slow down', { status: 429, headers: { 'retry-after': '86400' } }), answers(hello));
      const heard = await hear(open({ patience: { longestPauseMs: 100 } }));
      expect(heard).toMatchObject({ utterances: [{ text: 'Hello there.' }] });
    });

    it('and keeps the other pieces waiting too while a Retry-After runs', async () => {
      server.does(answers('slow down', { status: 429, headers: { 'retry-after': '0.2' } }), answers(hello));
      // Only when its one try has failed is it certain that the engine knows.
      const engine = open({ patience: { tries: 1 } });
      await expect(hear(engine)).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
      await Promise.all([hear(engine), hear(engine)]);
      const [told, ...others] = server.asked;
      expect(Math.min(...others.map(({ at }) => at)) - told!.at).toBeGreaterThanOrEqual(195);
    });

    it('but stops within a pause when told to', async () => {
      server.does(answers('slow down', { status: 429, headers: { 'retry-after': '60' } }));
      const stop = new AbortController();
      const engine = open({ patience: { longestPauseMs: 60_000 } });
      const heard = engine.hear(pieceOf(1), { language: null, signal: stop.signal });
      await waitUntil(() => server.asked.length === 1);
      setTimeout(() => stop.abort(new Error('enough')), 50);
      await expect(heard).rejects.toThrow('enough');
    });
  });

  describe('gives up at once', () => {
    it.each([
      [
        'a key that is refused',
        401,
        'Incorrect API key provided: sk-very-secret.',
        'ENGINE_MISCONFIGURED',
        'SPEECH_API_KEY',
      ],
      ['a key that may not', 403, '{"error":"sk-very-secret"}', 'ENGINE_MISCONFIGURED', 'SPEECH_API_KEY'],
      ['an address without transcriptions', 404, 'Not Found', 'ENGINE_MISCONFIGURED', 'SPEECH_URL'],
      [
        'a model that is not there',
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
      ['bodies that are too large', 413, '', 'ENGINE_MISCONFIGURED', '4 MB'],
      ['a quota that is used up', 429, '{"error":{"code":"insufficient_quota"}}', 'ENGINE_MISCONFIGURED', 'quota'],
      ['another method', 405, '', 'ENGINE_MISCONFIGURED', 'SPEECH_URL'],
      ['a recording it does not take', 422, '{"error":"could not be decoded"}', 'ENGINE_REFUSED', '422'],
    ])('on %s, with a sentence for the operator', async (_name, status, body, code, word) => {
      server.does(answers(body, { status }));
      const fault = await hear(open({ apiKey: 'sk-very-secret' })).catch((error: unknown) => error);
      expect(fault).toMatchObject({ code, kind: code === 'ENGINE_REFUSED' ? 'invalid' : 'unavailable' });
      expect((fault as Error).message).toContain(word);
      expect(`${(fault as Error).message} ${String((fault as Error).cause)}`).not.toContain('sk-very-secret');
      expect(server.asked).toHaveLength(1);
    });

    it('and keeps of an answer the names for what is wrong, not the sentences, which may quote a conversation', async () => {
      const error = {
        message: 'no words for: my card is 8600',
        type: 'invalid_request_error',
        code: 'my card is 8600',
      };
      server.does(answers(JSON.stringify({ error }), { status: 404 }));
      await expect(hear(open())).rejects.toMatchObject({ cause: { message: 'status 404, invalid_request_error' } });
    });

    it('on a redirect, which it does not follow', async () => {
      const elsewhere = await openSpeechServer();
      server.does(answers('', { status: 307, headers: { location: `${elsewhere.url}/v1/audio/transcriptions` } }));
      await expect(hear(open())).rejects.toMatchObject({ code: 'ENGINE_MISCONFIGURED' });
      expect(elsewhere.asked).toHaveLength(0);
      await elsewhere.close();
    });
  });

  it('reads no more of an answer than a transcription can have', async () => {
    let sent = 0;
    server.does((_asked, response) => {
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
    await expect(hear(open({ patience: { tries: 1 } }))).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    expect(sent).toBeLessThan(20 * 1024 * 1024);
  });

  it('asks for bare text when the model knows no segments, from then on', async () => {
    server.does(
      answers(
        { error: { message: "response_format 'verbose_json' is not compatible with model 'gpt-4o-transcribe'" } },
        { status: 400 },
      ),
      answers({ text: 'Hello there.' }),
    );
    const engine = open();
    await expect(hear(engine)).resolves.toMatchObject({ utterances: [{ text: 'Hello there.', start: 0, end: 2 }] });
    await hear(engine);
    expect(server.asked.map(({ fields }) => fields.response_format)).toEqual(['verbose_json', 'json', 'json']);
  });

  it('lets the server find the language when it does not know the code, be it told by 400 or by 500', async () => {
    const refusal = answers({ error: { message: "Language 'ky' is not supported." } }, { status: 400 });
    server.does(
      refusal,
      answers(hello),
      answers(hello),
      answers('Internal Server Error', { status: 500 }),
      answers(hello),
    );
    const engine = open();
    await hear(engine, 'ky');
    await hear(engine, 'ky');
    await hear(engine, 'uz');
    expect(server.asked.map(({ fields }) => fields.language)).toEqual(['ky', undefined, undefined, 'uz', undefined]);
  });

  it('hears a piece again, warmer, when the server got stuck in a loop, and drops the loop when it stays', async () => {
    const loop = {
      text: 'a',
      segments: [{ start: 0, end: 2, text: '1,5,5,5,5,5', compression_ratio: 15 }, ...hello.segments],
    };
    server.does(answers(loop), answers(hello));
    const engine = open();
    await expect(hear(engine)).resolves.toMatchObject({ utterances: [{ text: 'Hello there.' }] });
    expect(server.asked.map(({ fields }) => fields.temperature)).toEqual(['0', '0.4']);
    server.does(answers(loop));
    await expect(hear(engine)).resolves.toMatchObject({ utterances: [{ text: 'Hello there.' }] });
    server.does(answers({ text: 'да '.repeat(200) }));
    await expect(hear(engine)).resolves.toMatchObject({ utterances: [] });
    expect(server.asked).toHaveLength(6);
  });

  it('has its requests in flight bounded, first come, first served', async () => {
    const order: number[] = [];
    server.does(async (asked, response) => {
      order.push(asked.file.bytes.length);
      await delay(15);
      await answers(hello)(asked, response, response.req);
    });
    const engine = open({ concurrency: 1 });
    await Promise.all([0.1, 0.2, 0.3, 0.4].map((seconds) => hear(engine, null, seconds)));
    expect(server.mostAtOnce()).toBe(1);
    expect(order).toEqual([...order].sort((one, other) => one - other));
  });
});
