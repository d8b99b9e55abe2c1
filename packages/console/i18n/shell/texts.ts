import { pageTexts } from '../texts.ts';
import urls from './texts/all?texts';
import type en from './texts/en.json';

/** Texts of the frame around the pages, and of widgets that all pages use. */
export const shellTexts = pageTexts<keyof typeof en>('shell', urls);
