import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { languageModelConfig } from './config.ts';

describe('the lines of docs/language-models.md', () => {
  const page = readFileSync(new URL('../../../docs/language-models.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/^(.+):\n\n```sh\n([^`]+)```/gm)].map(([, name, lines]) => [name!, lines!] as const);

  it.each(blocks)('for %s configure a language model', (name, lines) => {
    const exports = lines.split('\n').filter((line) => line.startsWith('export '));
    const pairs = exports.flatMap((line) => [...line.matchAll(/([A-Z_]+)=(?:'([^']*)'|(\S+))/g)]);
    // A key is written as an ellipsis, which is no ASCII.
    const env = Object.fromEntries(
      pairs.map(([, key, quoted, plain]) => [key!, (quoted ?? plain)!.replace('…', 'secret')]),
    );
    const config = languageModelConfig(env);
    expect(config?.provider).toBe(name === 'Anthropic' ? 'anthropic' : 'openai');
    expect(config!.url).toMatch(/\/v1$/);
  });

  it('are there for seven servers', () => {
    expect(blocks.map(([name]) => name)).toEqual([
      'Ollama',
      'llama.cpp',
      "llama.cpp's Python server",
      'vLLM',
      'OpenAI',
      'Azure OpenAI',
      'Anthropic',
    ]);
  });
});
