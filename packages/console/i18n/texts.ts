import { i18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { whenOnline } from '../api/connection.ts';
import { takeEarly } from '../api/early.ts';
import type { Locale } from './locales.ts';
import { useShownZone } from './zone/zone.ts';

/** Values of a message's placeholders. Numbers are formatted first, save those that only choose a plural. */
type Values = Readonly<Record<string, string | number>>;
type Translate<Key extends string> = (key: Key, values?: Values) => string;

interface Texts<Key extends string> {
  /** Fetches the messages of a language, once. */
  load(locale: Locale): Promise<void>;
  /** The translations, for a component. It is drawn again in another language, and with its times in another zone. */
  use(): Translate<Key>;
  /** Whether a key exists, for keys that come from the API. */
  has(key: string): key is Key;
  /** All keys, once the messages are there. */
  keys(): Key[];
  translate: Translate<Key>;
}

const all = new Set<Pick<Texts<never>, 'load'>>();

/**
 * The texts of one page. `urls` comes from `./texts?texts`: one JSON file of messages per language, of which the English
 * one defines the keys.
 */
export function pageTexts<Key extends string>(page: string, urls: Readonly<Record<string, string>>): Texts<Key> {
  const loads = new Map<Locale, Promise<void>>();
  const translate: Translate<Key> = (key, values) => i18n._(`${page}.${key}`, values);
  const texts: Texts<Key> = {
    load(locale) {
      const loading = loads.get(locale) ?? fetchMessages(page, locale, urls[locale] ?? '');
      loads.set(locale, loading);
      loading.catch(() => loads.delete(locale));
      all.add(texts);
      return loading;
    },
    use() {
      useLingui();
      useShownZone();
      return translate;
    },
    has: (key): key is Key => Object.hasOwn(i18n.messages, `${page}.${key}`),
    keys: () =>
      Object.keys(i18n.messages).flatMap((key) =>
        key.startsWith(`${page}.`) ? [key.slice(page.length + 1) as Key] : [],
      ),
    translate,
  };
  return texts;
}

async function fetchMessages(page: string, locale: Locale, url: string): Promise<void> {
  const response = await whenOnline(() => takeEarly(url) ?? fetch(url));
  if (!response.ok) throw new Error(`The texts of ${page} were answered with ${response.status}.`);
  const messages = (await response.json()) as Record<string, string>;
  i18n.load(locale, Object.fromEntries(Object.entries(messages).map(([key, text]) => [`${page}.${key}`, text])));
}

/** Shows the console in another language, once all texts in use are there. */
export async function activateLocale(locale: Locale): Promise<void> {
  // A page that opens meanwhile fetches its texts in the former language.
  for (let known = 0; known < all.size;) {
    known = all.size;
    await Promise.all([...all].map((texts) => texts.load(locale)));
  }
  i18n.activate(locale);
  document.documentElement.lang = locale;
}

export function currentLocale(): Locale {
  return (i18n.locale || 'en') as Locale;
}
