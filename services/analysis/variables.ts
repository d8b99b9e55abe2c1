/** The variables of the language model, of prices and of reviews, for the standalone system. */
export {
  type LanguageModelConfig,
  languageModelConfig,
  LanguageModelVariables,
  ReviewVariables,
} from './language-model/config.ts';
export { type SpeechPrice, speechPrice, SpeechPriceVariables } from './language-model/prices.ts';
