import { describe, expect, it } from '@jest/globals';
import type { Client } from 'pg';
import { adviceOn, refuseSharedProcesses } from './errors.ts';

/** A connection of ours, whose statements are done by these processes in turn. */
function connection(said: number, ...processes: number[]) {
  let asked = 0;
  const query = async () => ({ rows: [{ pid: processes[Math.min(asked++, processes.length - 1)] }] });
  return { processID: said, query } as unknown as Client;
}

describe('a pooler in front of PostgreSQL', () => {
  const none = () => Promise.reject(new Error('Nobody needs another connection.'));

  it('is not searched for when the server itself answers', async () => {
    await refuseSharedProcesses(connection(7, 7), none);
  });

  it('is accepted when it keeps a process for each connection', async () => {
    await refuseSharedProcesses(connection(900, 7), async () => connection(901, 8));
  });

  it.each([
    ['to another connection too', connection(900, 7), connection(901, 7)],
    ['in turn', connection(900, 7, 8), connection(901, 9)],
  ])('that gives a process %s is refused, with what to do', async (_, first, other) => {
    const refusing = refuseSharedProcesses(first, async () => other);
    await expect(refusing).rejects.toMatchObject({
      name: 'StartFault',
      message: expect.stringMatching(/pool_mode=transaction\. Name PostgreSQL itself there\.$/),
    });
  });

  it('is named when it refuses options', () => {
    const refused = Object.assign(new Error('unsupported startup parameter: options'), {
      code: '08P01',
      severity: 'FATAL',
    });
    expect(adviceOn(refused)).toMatchObject({
      name: 'StartFault',
      message: expect.stringContaining('Name PostgreSQL itself'),
    });
  });
});
