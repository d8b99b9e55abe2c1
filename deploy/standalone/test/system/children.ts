import { readdirSync, readFileSync } from 'node:fs';

/** The child processes of these, such as transcription workers, without PostgreSQL. None where the system is not Linux. */
export function childrenOf(pids: readonly number[]): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const [, program, parent] = /\((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'latin1')) ?? [];
        return pids.includes(Number(parent)) && program !== 'postgres';
      } catch {
        return false;
      }
    })
    .map(Number);
}
