import { pageTexts } from '../../i18n/texts.ts';
import urls from './texts/all?texts';
import type en from './texts/en.json';

export const inboxTexts = pageTexts<keyof typeof en>('inbox', urls);
