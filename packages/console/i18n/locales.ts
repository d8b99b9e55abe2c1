/** The languages of the console, by BCP 47 tag. */
export const LOCALES = ['en', 'ru', 'uz', 'uz-Cyrl', 'ky', 'es'] as const;
export type Locale = (typeof LOCALES)[number];

/** Each language's own name, which a reader who knows no other can find. */
export const LOCALE_NAMES: Readonly<Record<Locale, string>> = {
  en: 'English',
  ru: 'Русский',
  uz: 'Oʻzbekcha',
  'uz-Cyrl': 'Ўзбекча',
  ky: 'Кыргызча',
  es: 'Español',
};

const STORED = 'console.locale';

/** The user's choice, else the first language of the browser that the console has, else English. */
export function preferredLocale(): Locale {
  const stored = LOCALES.find((each) => each === localStorage.getItem(STORED));
  if (stored !== undefined) return stored;
  for (const wanted of navigator.languages) {
    const { language, script } = new Intl.Locale(wanted);
    const exact = `${language}-${script ?? ''}`;
    const found = LOCALES.find((each) => each === exact) ?? LOCALES.find((each) => each === language);
    if (found !== undefined) return found;
  }
  return 'en';
}

export function storeLocale(locale: Locale): void {
  localStorage.setItem(STORED, locale);
}
