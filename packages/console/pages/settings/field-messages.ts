import { ApiError } from '@call-analysis/client/errors';
import type { Schemas } from '../../api/client.ts';

/** What the service says of each field. */
export function messagesOf(error: unknown): string {
  const fields = error instanceof ApiError ? (error.details?.['fields'] as Schemas['FieldError'][] | undefined) : [];
  return (fields ?? []).map(({ field, message }) => `${field} ${message}.`).join(' ');
}
