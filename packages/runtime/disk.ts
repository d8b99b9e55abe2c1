import { open } from 'node:fs/promises';

/** Makes new names in a folder survive a power failure. Windows cannot open folders, and need not. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

/** Whether an error says that the disk, or the user's share of it, is full. */
export function isDiskFull(error: unknown): boolean {
  const { code } = Object(error) as { code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT';
}
