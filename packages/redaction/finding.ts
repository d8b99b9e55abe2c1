/** Kinds of personal data, by the word that replaces them: `[PHONE]`. */
export const KINDS = ['EMAIL', 'IBAN', 'CARD', 'PHONE', 'PASSPORT', 'TAX_ID', 'NUMBER'] as const;
export type Kind = (typeof KINDS)[number];

/** Personal data in a text. The offsets are UTF-16 units, the end is exclusive. */
export interface Finding {
  readonly start: number;
  readonly end: number;
  readonly kind: Kind;
}
