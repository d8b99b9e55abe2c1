import { pageTexts } from '../../i18n/texts.ts';
import urls from './texts/all?texts';
import type en from './texts/en.json';

export const calibrationTexts = pageTexts<keyof typeof en>('calibrations', urls);
