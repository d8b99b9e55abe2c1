import { Role } from '@call-analysis/events';
import type { ValueFault } from './row-fault.ts';

/** `operator` or `client` in any case: who speaks on a channel. */
export function parseChannel(column: string, text: string): Role | ValueFault {
  const role = Role.safeParse(text.toLowerCase());
  if (role.success) return role.data;
  return { fault: 'INVALID_CHANNEL', message: `${column} must be operator or client: who speaks on that channel.` };
}

export const sameChannel: ValueFault = {
  fault: 'SAME_CHANNEL',
  message: 'left_channel and right_channel name the same side. One must be operator, the other client.',
};
