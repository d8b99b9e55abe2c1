import type { LanguageModelConfig } from '../language-model/config.ts';
import { modelConfig } from './model-scorecard.ts';

/** The server that scripts/model-server.sh has started. Rejects without one: a test that needs it never passes without. */
export async function realModelConfig(change: Partial<LanguageModelConfig> = {}): Promise<LanguageModelConfig> {
  const url = required('TEST_MODEL_URL');
  const answer = await fetch(`${url}/models`).catch(() => null);
  if (answer?.ok !== true)
    throw new Error(`No language model answers at TEST_MODEL_URL (${url}). It may have been stopped.`);
  return modelConfig(url, {
    model: required('TEST_MODEL_NAME'),
    concurrency: 1,
    contextTokens: 4_096,
    timeoutMs: 300_000,
    ...change,
  });
}

function required(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  throw new Error(`${name} is not set: run scripts/model-server.sh and set the variables that it prints.`);
}
