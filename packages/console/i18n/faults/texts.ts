import urls from '../all?texts';
import { currentLocale, pageTexts } from '../texts.ts';
import type en from './texts/en.json';

/** What the service says by codes, in the user's language. They are fetched after the first page is shown. */
export const faultTexts = pageTexts<keyof typeof en>('faults', urls);

type Details = Readonly<Record<string, unknown>> | null;

/** A code of the service in words. The service's own words where it has none. */
export function faultText(code: string, message: string, details: Details = null): string {
  // The rows of an export, whose format may be another, or of a file, which has a limit.
  const key = code === 'TOO_MANY_ROWS' && details?.['limit_rows'] !== undefined ? 'file.TOO_MANY_ROWS' : code;
  if (!faultTexts.has(key)) return message;
  const { columns = [], row = '–' } = (details ?? {}) as { columns?: string[]; row?: number | string };
  return faultTexts.translate(key, { columns: columns.join(', '), row });
}

interface FieldFault {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

/** What is wrong with a field. In English the service says it more exactly than its code. */
export function fieldText({ field, code, message }: FieldFault): string {
  return faultTexts.translate('field', {
    field: faultTexts.inWords('name.', field),
    what: currentLocale() === 'en' ? message : faultTexts.inWords('field.', code, message),
  });
}

/** The codes of failed calls that mean the same to a person, beside those of engines and analysts. */
const FAILURES = {
  ENTRY_CORRUPT: 'call.file',
  INVALID_FILE_FORMAT: 'call.file',
  AUDIO_UNREADABLE: 'call.file',
  ARCHIVE_MISSING: 'call.missing',
  NOT_ANNOUNCED: 'call.missing',
  RECORDING_MISSING: 'call.missing',
  AUDIO_NOT_STEREO: 'call.stereo',
  LANGUAGE_NOT_SUPPORTED: 'call.language',
  WORK_DIRECTORY_FULL: 'call.room',
  TRANSCRIPT_UNREADABLE: 'call.result',
  RESULT_NOT_STORED: 'call.result',
} as const satisfies Record<string, keyof typeof en>;

export function failureText({ code, message }: { readonly code: string; readonly message: string }): string {
  if (code.startsWith('ENGINE_')) return faultText('call.engine', message);
  if (code.startsWith('ANALYST_')) return faultText('call.analyst', message);
  return Object.hasOwn(FAILURES, code) ? faultText(FAILURES[code as keyof typeof FAILURES], message) : message;
}

export type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Says what is wrong with a field in the console's language: the browser would say it in its own. */
export function translateFieldFaults(): void {
  addEventListener('invalid', ({ target }) => say(target), true);
  // A field with a message of its own stays at fault until the message is taken away.
  for (const type of ['input', 'change']) addEventListener(type, ({ target }) => clear(target), true);
  // No event tells of a value that the page sets, such as a discarded one. A form is also sent by a click, which the browser makes of Enter.
  addEventListener(
    'click',
    ({ target }) => {
      const button = target instanceof Element ? target.closest('button') : null;
      for (const control of button?.form?.elements ?? []) clear(control);
    },
    true,
  );
}

function clear(target: EventTarget | null): void {
  if (isControl(target) && target.validity.customError) target.setCustomValidity('');
}

function say(target: EventTarget | null): void {
  if (!isControl(target) || !faultTexts.has('input.required')) return;
  clear(target);
  const message = messageOf(target);
  if (message !== '') target.setCustomValidity(message);
}

function messageOf(control: Control): string {
  const { validity } = control;
  const t = faultTexts.translate;
  if (validity.valid) return '';
  if (validity.valueMissing) return t('input.required');
  const { type, min = '', max = '' } = control as Partial<HTMLInputElement>;
  if (validity.typeMismatch) return t(type === 'url' ? 'input.url' : 'input.invalid');
  if (validity.badInput) return t(type === 'number' ? 'input.number' : 'input.invalid');
  if (validity.rangeUnderflow) return t('input.least', { least: min });
  if (validity.rangeOverflow) return t('input.most', { most: max });
  return control.title || t('input.invalid');
}

export function isControl(target: EventTarget | null): target is Control {
  return (
    target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement
  );
}
