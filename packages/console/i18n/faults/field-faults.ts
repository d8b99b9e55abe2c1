import { faultTexts } from './texts.ts';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Says what is wrong with a field in the console's language: the browser would say it in its own. */
export function translateFieldFaults(): void {
  addEventListener('invalid', ({ target }) => say(target), true);
  // A field with a message of its own stays at fault until the message is taken away.
  for (const type of ['input', 'change']) addEventListener(type, ({ target }) => clear(target), true);
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

function isControl(target: EventTarget | null): target is Control {
  return (
    target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement
  );
}
