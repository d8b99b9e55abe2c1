import { ApiError } from '@call-analysis/client/errors';
import type { Schemas } from '../../api/client.ts';
import { useFailure } from '../../widgets/states.tsx';

/** Why something could not be saved, with what the service says of each field. */
export function SaveFault({ error }: { error: unknown }) {
  const { title, text } = useFailure(error);
  return (
    <p role="alert" className="settings-fault foreign">
      {title}. {text} {messagesOf(error)}
    </p>
  );
}

function messagesOf(error: unknown): string {
  const fields = error instanceof ApiError ? (error.details?.['fields'] as Schemas['FieldError'][] | undefined) : [];
  return (fields ?? []).map(({ field, message }) => `${field} ${message}.`).join(' ');
}
