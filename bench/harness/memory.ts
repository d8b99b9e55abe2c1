import { readFileSync, writeFileSync } from 'node:fs';

/** The peak resident memory of a process since `resetPeak`, in MiB. Linux only. */
export function peakMiB(pid: number): number {
  return statusMiB(pid, 'VmHWM');
}

export function residentMiB(pid: number): number {
  return statusMiB(pid, 'VmRSS');
}

export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function statusMiB(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
}
