import { parseConfig } from '@call-analysis/runtime';
import {
  address,
  type DatabaseConfig,
  type ObjectsServiceConfig,
  type RpcConfig,
  serviceConfig,
} from '@call-analysis/service';
import {
  type LanguageModelConfig,
  languageModelConfig,
  LanguageModelVariables,
  ReviewVariables,
} from './language-model/config.ts';
import { type SpeechPrice, speechPrice, SpeechPriceVariables } from './language-model/prices.ts';

export interface Config extends DatabaseConfig, ObjectsServiceConfig, RpcConfig {
  /** Where key-management serves; it knows the firms' segment types. */
  readonly keyManagement: string;
  /** Null or absent: the rules answer what they can. */
  readonly languageModel?: LanguageModelConfig | null;
  /** Null or absent: what speech costs is unknown. */
  readonly speechPrice?: SpeechPrice | null;
  /** Answers that are less sure than this need a review. Default 0.7. */
  readonly reviewBelow?: number;
}

export const { variables, readConfig } = serviceConfig<Config>({
  name: 'analysis',
  objects: true,
  rpc: true,
  own: {
    keyManagement: address('KEY_MANAGEMENT_ADDRESS'),
    languageModel: { variables: LanguageModelVariables, read: languageModelConfig },
    speechPrice: { variables: SpeechPriceVariables, read: speechPrice },
    reviewBelow: { variables: ReviewVariables, read: (env) => parseConfig(ReviewVariables, env).REVIEW_BELOW },
  },
});
