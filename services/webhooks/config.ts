import { parseConfig } from '@call-analysis/runtime';
import { type DatabaseConfig, type RpcConfig, serviceConfig } from '@call-analysis/service';
import { WebhookVariables } from './variables.ts';

export interface Config extends DatabaseConfig, RpcConfig {
  /** Also allows http. */
  readonly allowPrivate: boolean;
}

export const { variables, readConfig } = serviceConfig<Config>({
  name: 'webhooks',
  objects: false,
  rpc: true,
  own: {
    allowPrivate: {
      variables: WebhookVariables,
      read: (env) => parseConfig(WebhookVariables, env).WEBHOOK_ALLOW_PRIVATE,
    },
  },
});
