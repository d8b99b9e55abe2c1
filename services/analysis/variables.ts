/** The variables of the language model and of reviews, for the standalone system. */
export {
  type LanguageModelConfig,
  languageModelConfig,
  LanguageModelVariables,
  ReviewVariables,
} from './language-model/config.ts';
