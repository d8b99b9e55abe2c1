import { brokers, database, environmentContract, serving } from '@call-analysis/runtime/contract';
import { readConfig, variables } from './config.ts';

const API_KEY_PEPPER = 'telling'.repeat(8);
const DATABASE_URL = 'postgresql://keys:telling@db/keys';

environmentContract('key-management', {
  readConfig,
  variables,
  env: { DATABASE_URL, ...brokers.env, API_KEY_PEPPER },
  config: {
    databaseUrl: DATABASE_URL,
    connections: 24,
    bus: {
      transport: 'kafka',
      url: DATABASE_URL,
      connections: 24,
      schema: 'key_management_bus',
      kafka: brokers.settings,
    },
    ...serving.settings,
    peppers: { pepper: API_KEY_PEPPER },
  },
  secret: 'API_KEY_PEPPER',
  refusals: [
    [{ API_KEY_PEPPER: 'short' }, ['API_KEY_PEPPER must have at least 32 bytes.']],
    ...database.refusals,
    ...brokers.refusals,
    ...serving.refusals,
  ],
  wrong: [
    { RPC_PORT: 'x', DRAIN: 'soon' },
    [
      'DATABASE_URL must be set',
      'KAFKA_BROKERS must be set',
      'API_KEY_PEPPER must be set',
      'RPC_PORT must be a port',
      'DRAIN must be a duration',
    ],
  ],
});
