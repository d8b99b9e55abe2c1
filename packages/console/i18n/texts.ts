import { i18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { whenOnline } from '../api/connection.ts';
import { takeEarly } from '../api/early.ts';
import urls from './all?texts';
import type { Locale } from './locales.ts';
import type shell from './shell/texts/en.json';
import type topics from './topics/texts/en.json';
import { useShownZone } from './zone/zone.ts';

/** Values of a message's placeholders. Numbers are formatted first, save those that only choose a plural. */
type Values = Readonly<Record<string, string | number>>;
type Load = (locale: Locale) => Promise<void>;

/** Of the pages whose texts were asked for. */
const loads = new Set<Load>();

/** The texts of one page. `urls` comes from `./all?texts`: a JSON file of messages by page and language, of which the English one has the keys. */
export function pageTexts<Key extends string>(page: string, urls: Readonly<Record<string, Record<string, string>>>) {
  const fetched = new Map<Locale, Promise<void>>();
  const translate = (key: Key, values?: Values): string => i18n._(`${page}.${key}`, values);
  /** Fetches the messages of a language, once. */
  const load: Load = (locale) => {
    const loading = fetched.get(locale) ?? fetchMessages(page, locale, urls[page]?.[locale] ?? '');
    fetched.set(locale, loading);
    loading.catch(() => fetched.delete(locale));
    loads.add(load);
    return loading;
  };
  /** Whether a key exists, for keys that come from the API. */
  const has = (key: string): key is Key => Object.hasOwn(i18n.messages, `${page}.${key}`);
  return {
    load,
    translate,
    /** The translations, for a component. It is drawn again in another language, and with its times in another zone. */
    use() {
      useLingui();
      useShownZone();
      return translate;
    },
    has,
    /** A code of the API in words, by the beginning of its key. Where there are none, what is given, or the code. */
    inWords: (prefix: string, code: string, otherwise = code): string => {
      const key = prefix + code;
      return has(key) ? translate(key) : otherwise;
    },
    /** The codes that `inWords` knows, once the messages are there. */
    codes: (prefix: string): readonly string[] => {
      const start = `${page}.${prefix}`;
      return Object.keys(i18n.messages).flatMap((key) => (key.startsWith(start) ? [key.slice(start.length)] : []));
    },
  };
}

/** Texts of the frame around the pages, and of widgets that all pages use. */
export const shellTexts = pageTexts<keyof typeof shell>('shell', urls);
export const topicTexts = pageTexts<keyof typeof topics>('topics', urls);

/** A topic in words. One that the service's rules do not know, such as a model's, stays as it is. */
export function topicName(topic: string): string {
  return topicTexts.inWords('', topic);
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
  for (let known = 0; known < loads.size;) {
    known = loads.size;
    await Promise.all([...loads].map((load) => load(locale)));
  }
  i18n.activate(locale);
  document.documentElement.lang = locale;
}

export function currentLocale(): Locale {
  return (i18n.locale || 'en') as Locale;
}
