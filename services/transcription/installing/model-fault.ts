import { Fault } from '@call-analysis/fault';
import { isDiskFull } from '@call-analysis/runtime';

/** A failure to install a model. The message says what to do next. */
export function modelFault(code: string, message: string, cause?: unknown): Fault {
  return new Fault('invalid', code, message, { cause });
}

/** Null unless the error says that the disk, or the user's share of it, is full. */
export function fullDisk(error: unknown, directory: string): Fault | null {
  if (!isDiskFull(error)) return null;
  return modelFault(
    'DISK_FULL',
    `The disk of ${directory} is full. Free space, or set SPEECH_MODEL_DIR to a folder on another disk, and run the command again: a download goes on where it stopped.`,
    error,
  );
}

/** Fault DISK_FULL unless this many bytes are free. */
export function requireSpace(directory: string, needed: number, free: number): void {
  if (needed <= free) return;
  const shown = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;
  throw modelFault(
    'DISK_FULL',
    `The model needs ${shown(needed)} more in ${directory}, where ${shown(free)} are free. Free space, or set SPEECH_MODEL_DIR to a folder on another disk, and run the command again.`,
  );
}
