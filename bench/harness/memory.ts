import { readFileSync, writeFileSync } from 'node:fs';
import { familyOf } from './processor.ts';

/** The peak resident memory of a process since `resetPeak`, in MiB. Linux only. */
export function peakMiB(pid: number): number {
  return statusMiB(pid, 'VmHWM');
}

export function residentMiB(pid: number): number {
  return statusMiB(pid, 'VmRSS');
}

/**
 * The proportional memory (PSS) of a process and its descendants, without those of `except`: what is shared is divided by
 * those that share it.
 */
export function proportionalMiB(pid: number, except: number): number {
  const apart = new Set(familyOf(except).map((each) => each.pid));
  return familyOf(pid)
    .filter((each) => !apart.has(each.pid))
    .reduce((sum, each) => sum + memoryMiB(`/proc/${each.pid}/smaps_rollup`, 'Pss'), 0);
}

export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function statusMiB(pid: number, field: string): number {
  return memoryMiB(`/proc/${pid}/status`, field);
}

function memoryMiB(file: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file, 'utf8'))?.[1]) / 1024;
}
