import { describe, expect, it } from '@jest/globals';
import { commandConfig, serverConfig, otherEngine, speechEngine } from './config.ts';

describe('speech engine configuration', () => {
  const PATH = '/usr/bin:/bin';
  const server = { SPEECH_URL: 'http://127.0.0.1:9000/v1', SPEECH_MODEL: 'whisper-1' };

  it('reads a server with its URL, model and optional key', () => {
    expect(serverConfig(server)).toEqual({
      provider: 'openai',
      url: server.SPEECH_URL,
      model: 'whisper-1',
      apiKey: undefined,
      concurrency: undefined,
    });
    const all = { ...server, SPEECH_API_KEY: 'sk-1', SPEECH_CONCURRENCY: '16', SPEECH_MAX_BYTES: '1MB' };
    expect(serverConfig(all)).toMatchObject({
      apiKey: 'sk-1',
      maxRequestBytes: 1_000_000,
      concurrency: 16,
    });
  });

  it('reads a program by its command line and withholds secrets from it', () => {
    const env = {
      PATH,
      SPEECH_COMMAND: 'sh -c "cat {file}"',
      HF_HOME: '/m',
      JWT_SECRET: 's',
      API_KEY_PEPPER: 'p',
      DATABASE_URL: 'd',
      LLM_API_KEY: 'k',
      NONE: undefined,
    };
    const config = commandConfig(env);
    expect(config).toMatchObject({ command: ['sh', '-c', 'cat {file}'] });
    expect(config!.concurrency).toBeGreaterThanOrEqual(1);
    expect(config!.environment).toEqual({ PATH, SPEECH_COMMAND: env.SPEECH_COMMAND, HF_HOME: '/m' });
  });

  it.each([
    ['https://api.openai.com/v1', 'openai'],
    ['http://gpu:8000', 'openai'],
    ['https://acme.openai.azure.com', 'azure'],
    ['https://acme.cognitiveservices.azure.com/', 'azure'],
    ['https://proxy/openai/deployments/whisper/', 'azure'],
    ['https://api.deepgram.com', 'deepgram'],
    ['https://api.eu.deepgram.com/v1', 'deepgram'],
    ['http://gpu:8080/v1/listen', 'deepgram'],
  ])('takes %s for the API of %s, unless SPEECH_PROVIDER says otherwise', (url, provider) => {
    expect(serverConfig({ ...server, SPEECH_URL: url })).toMatchObject({ provider });
    expect(serverConfig({ ...server, SPEECH_URL: url, SPEECH_PROVIDER: 'azure' })).toMatchObject({ provider: 'azure' });
  });

  it.each(['SPEECH_WORKERS', 'SPEECH_EARS'])('reads the number of workers from %s', (name) => {
    expect(speechEngine({ PATH, [name]: '3', SPEECH_THREADS: '2' })).toMatchObject({
      kind: 'local',
      workers: 3,
      threads: 2,
    });
  });

  it('is null when no engine is configured', () => {
    expect(otherEngine({ PATH, SPEECH_URL: '', SPEECH_COMMAND: '' })).toBeNull();
  });

  it('returns the kind of the configured engine', () => {
    expect(otherEngine(server)).toMatchObject({ kind: 'server', provider: 'openai', model: 'whisper-1' });
    expect(otherEngine({ PATH, SPEECH_COMMAND: '["sh"]' })).toMatchObject({ kind: 'command', command: ['sh'] });
  });

  it.each([
    ['a URL without a model', { SPEECH_URL: server.SPEECH_URL }, 'SPEECH_URL is set, so SPEECH_MODEL must be set too.'],
    [
      'a key without a server',
      { SPEECH_API_KEY: 'k' },
      'SPEECH_API_KEY is set, so SPEECH_URL and SPEECH_MODEL must be set too.',
    ],
    [
      'a provider without a server',
      { SPEECH_PROVIDER: 'deepgram' },
      'SPEECH_PROVIDER is set, so SPEECH_URL and SPEECH_MODEL must be set too.',
    ],
    [
      'requests that have no room for a sentence',
      { ...server, SPEECH_MAX_BYTES: '1000' },
      'SPEECH_MAX_BYTES must be at least 256KiB, which is eight seconds of speech, not "1000".',
    ],
    [
      'an unknown provider',
      { ...server, SPEECH_PROVIDER: 'acme' },
      'SPEECH_PROVIDER must be one of openai, azure, deepgram, not "acme".',
    ],
    [
      'a value that is not a URL',
      { ...server, SPEECH_URL: 'localhost' },
      'SPEECH_URL must be an http or https URL, not "localhost".',
    ],
    [
      'another protocol',
      { ...server, SPEECH_URL: 'ftp://h/' },
      'SPEECH_URL must be an http or https URL, not "ftp://h/".',
    ],
    [
      'a password in the URL',
      { ...server, SPEECH_URL: 'http://me:pw@h/' },
      'SPEECH_URL must not contain a user or password; put a key into SPEECH_API_KEY.',
    ],
    [
      'a password in a URL in capitals',
      { ...server, SPEECH_URL: 'HTTPS://me:pw@h/' },
      'SPEECH_URL must not contain a user or password; put a key into SPEECH_API_KEY.',
    ],
    [
      'a key with a line end',
      { ...server, SPEECH_API_KEY: 'sk-1\n' },
      'SPEECH_API_KEY must consist of visible ASCII characters without spaces.',
    ],
    [
      'too high a concurrency',
      { ...server, SPEECH_CONCURRENCY: '1000' },
      'SPEECH_CONCURRENCY must be a number from 1 to 256, not "1000".',
    ],
    [
      'a server and a program',
      { ...server, PATH, SPEECH_COMMAND: 'sh' },
      'SPEECH_URL and SPEECH_COMMAND are both set; set only one of them.',
    ],
    [
      'a program that does not exist',
      { PATH, SPEECH_COMMAND: 'no-such-recogniser {file}' },
      'SPEECH_COMMAND names no-such-recogniser, which is not a program that can be run here.',
    ],
    [
      'a folder instead of a program',
      { SPEECH_COMMAND: '/usr' },
      'SPEECH_COMMAND names /usr, which is not a program that can be run here.',
    ],
    [
      'shell syntax in the command',
      { PATH, SPEECH_COMMAND: 'sh | sh' },
      'SPEECH_COMMAND is run without a shell, which | needs; use a script, or put | into quotes.',
    ],
  ])('refuses %s with one sentence', (_name, env, message) => {
    expect(() => otherEngine(env)).toThrow(expect.objectContaining({ name: 'ConfigFault', message }));
  });
});
