import { ApiError } from '@call-analysis/client/errors';
import type { Schemas } from '../api/client.ts';
import { fieldText } from '../i18n/faults/texts.ts';
import { useFailure } from './states.tsx';

/** Why an action did not work, with what is wrong with each field. */
export function Fault({ error }: { error: unknown }) {
  const { title, text } = useFailure(error);
  return (
    <p role="alert" className="fault foreign">
      {[`${title}.`, text, ...fieldFaults(error).map((fault) => ensureStop(fieldText(fault)))].join(' ')}
    </p>
  );
}

function fieldFaults(error: unknown): readonly Schemas['FieldError'][] {
  // Other errors say the same of their field as of the whole.
  if (!(error instanceof ApiError) || error.code !== 'VALIDATION_ERROR') return [];
  return (error.details?.['fields'] as Schemas['FieldError'][] | undefined) ?? [];
}

function ensureStop(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
