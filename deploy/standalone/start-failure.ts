import { statfsSync } from 'node:fs';
import { StartFault } from '@call-analysis/runtime';
import type { Settings } from './config.ts';

/** When the disk has no room for another WAL segment, PostgreSQL ends and cannot write the reason. */
const FULL_BELOW_BYTES = 16 * 1024 * 1024;
/** The error codes of the operating system and of PostgreSQL for a full disk. */
const FULL = new Set<unknown>(['ENOSPC', 'EDQUOT', '53100']);

/**
 * Turns errors that the operator can fix into a StartFault with one sentence. Other errors keep their stack for the log.
 * Call this before closing anything, because closing frees space on the disk.
 */
export function toStartFault(error: unknown, settings: Settings): unknown {
  if (error instanceof StartFault) return error;
  const codes = causesOf(error).map(({ code }) => code);
  if (codes.some((code) => FULL.has(code)) || isFull(settings.dataDirectory)) {
    return new StartFault(`The disk that holds ${settings.dataDirectory} is full. Free some space and restart.`, {
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
