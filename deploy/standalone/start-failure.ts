import { statfsSync } from 'node:fs';
import { StartFault } from '@call-analysis/runtime';
import type { Settings } from './config.ts';

/** With less than one more segment of its log, PostgreSQL ends without being able to say why. */
const FULL_BELOW_BYTES = 16 * 1024 * 1024;
/** The system's names for it, and PostgreSQL's. */
const FULL = new Set<unknown>(['ENOSPC', 'EDQUOT', '53100']);

/**
 * What a person can mend is said in one sentence; anything else keeps its stack for the log. To be asked before
 * anything is closed: closing frees space.
 */
export function inOneSentence(error: unknown, settings: Settings): unknown {
  if (error instanceof StartFault) return error;
  const codes = causesOf(error).map(({ code }) => code);
  if (codes.some((code) => FULL.has(code)) || isFull(settings.dataDirectory)) {
    return new StartFault(`The disk that holds ${settings.dataDirectory} is full. Free some space and start again.`, {
      cause: error,
    });
  }
  return error;
}

function causesOf(error: unknown): (Error & { code?: unknown })[] {
  const causes: (Error & { code?: unknown })[] = [];
  for (let each = error; each instanceof Error && causes.length < 8; each = each.cause) causes.push(each);
  return causes;
}

function isFull(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize < FULL_BELOW_BYTES;
  } catch {
    return false;
  }
}
