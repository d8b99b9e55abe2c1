import { pageTexts } from '../texts.ts';
import urls from './texts/all?texts';
import type en from './texts/en.json';

export const topicTexts = pageTexts<keyof typeof en>('topics', urls);

/** A topic in words. One that the service's rules do not know, such as a model's, stays as it is. */
export function topicName(topic: string): string {
  return topicTexts.has(topic) ? topicTexts.translate(topic) : topic;
}
