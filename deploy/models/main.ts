// Runs in a container with Ollama's: has it pull LLM_MODEL. Goes on running, so that its health says whether the model is there.
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const SAID_EVERY_MS = 5_000;
const RETRY_MS = 10_000;

/** A line of Ollama's answer to `POST /api/pull`. The bytes are those of one of the model's files. */
interface Progress {
  readonly digest?: string;
  readonly total?: number;
  readonly completed?: number;
  readonly error?: string;
}

/** Ollama knows no such model: pulling it again does not help. */
class UnknownModel extends Error {}

interface Options {
  readonly say: (line: string) => void;
  readonly saidEveryMs?: number;
  readonly retryMs?: number;
}

/**
 * Has the Ollama at `url` pull a model, unless it has it, and says how far it is. Goes on where it stopped after an
 * interruption, for as long as that takes. Rejects when there is no such model.
 */
export async function pullModel(
  url: string,
  model: string,
  { say, saidEveryMs = SAID_EVERY_MS, retryMs = RETRY_MS }: Options,
): Promise<void> {
  for (;;) {
    try {
      if (await has(url, model)) return say(`Ollama has ${model}.`);
      await pull(url, model, say, saidEveryMs);
    } catch (error) {
      if (error instanceof UnknownModel) throw error;
      const { message, cause } = error as Error;
      say(`${model} is not there yet: ${cause instanceof Error ? cause.message : message}. Trying again.`);
      await pause(retryMs);
    }
  }
}

async function has(url: string, model: string): Promise<boolean> {
  const response = await post(url, 'show', model);
  await response.text();
  if (!response.ok && response.status !== 404) throw new Error(`Ollama answered ${response.status}`);
  return response.ok;
}

async function pull(url: string, model: string, say: Options['say'], saidEveryMs: number): Promise<void> {
  say(`Ollama pulls ${model}.`);
  const response = await post(url, 'pull', model);
  const files = new Map<string, { total: number; completed: number }>();
  let saidAt = 0;
  for await (const line of linesOf(response)) {
    const { error, digest, total = 0, completed = 0 } = JSON.parse(line) as Progress;
    if (error !== undefined)
      throw /does not exist|invalid model/.test(error) ? new UnknownModel(error) : new Error(error);
    if (digest === undefined) continue;
    files.set(digest, { total, completed });
    if (Date.now() - saidAt < saidEveryMs) continue;
    saidAt = Date.now();
    const sum = (of: 'total' | 'completed') => [...files.values()].reduce((all, each) => all + each[of], 0);
    const percent = sum('total') === 0 ? 0 : Math.floor((100 * sum('completed')) / sum('total'));
    say(`${model}: ${(sum('completed') / 1e9).toFixed(1)} of ${(sum('total') / 1e9).toFixed(1)} GB (${percent} %)`);
  }
}

function post(url: string, action: string, model: string): Promise<Response> {
  return fetch(new URL(`/api/${action}`, url), { method: 'POST', body: JSON.stringify({ model }) });
}

async function* linesOf({ body }: Response): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${piece}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line !== '');
  }
  if (rest !== '') yield rest;
}

if (import.meta.main) {
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
}
