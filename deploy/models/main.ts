// Runs in a container with Ollama's: has it pull LLM_MODEL. Goes on running, so that its health says whether the model is there.
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pullModel } from './pull-model.ts';

const { OLLAMA_URL = '', LLM_MODEL = '', LLM_URL = '' } = process.env;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
try {
  if (LLM_URL === '' || LLM_MODEL === '')
    throw new Error('LLM_URL and LLM_MODEL are not set, so no service would ask the model.');
  await pullModel(OLLAMA_URL, LLM_MODEL, { say: (line) => console.log(line) });
  await writeFile(join(tmpdir(), 'pulled'), '');
  setInterval(() => {}, 2 ** 31 - 1);
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
