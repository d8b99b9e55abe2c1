import { invalidFields } from '@call-analysis/fault';

/** The dates are for people to read: a campaign starts and ends when it is told to. */
export function requireOrder({ startsAt, endsAt }: { startsAt: Date | null; endsAt: Date | null }): void {
  if (startsAt === null || endsAt === null || startsAt < endsAt) return;
  throw invalidFields([{ field: 'ends_at', code: 'INVALID', message: 'must be after starts_at' }]);
}
