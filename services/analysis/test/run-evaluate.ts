import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const program = fileURLToPath(new URL('../tools/evaluate/main.ts', import.meta.url));

/** A command that outlives its test would keep the server of the next one busy. */
const TIMEOUT_MS = 550_000;

interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `npm run evaluate` without npm, with these variables and those of this process. */
export async function runEvaluate(args: readonly string[], variables: Record<string, string> = {}): Promise<Finished> {
  const options = { env: { ...process.env, ...variables }, timeout: TIMEOUT_MS };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...args], options);
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as Finished;
    return { code, stdout, stderr };
  }
}

/** The variables that name a language model. */
export function modelVariables(url: string, model = 'test-model'): Record<string, string> {
  return {
    LLM_URL: url,
    LLM_MODEL: model,
    LLM_PRICE_INPUT: '1000',
    LLM_PRICE_OUTPUT: '2000',
    LLM_CURRENCY: 'EUR',
  };
}
