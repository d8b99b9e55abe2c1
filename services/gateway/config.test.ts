import { brokers, calling, environmentContract } from '@call-analysis/runtime/contract';
import { readConfig, variables } from './config.ts';

const JWT_SECRET = 'telling'.repeat(8);

environmentContract('gateway', {
  readConfig,
  variables,
  env: {
    JWT_SECRET,
    ...brokers.env,
    KEY_MANAGEMENT_ADDRESS: 'key-management:50051',
    INGEST_ADDRESS: 'ingest:50051',
    AUDIO_ADDRESS: 'audio:50051',
    ANALYSIS_ADDRESS: 'analysis:50051',
    WEBHOOKS_ADDRESS: 'webhooks:50051',
  },
  config: {
    host: '0.0.0.0',
    port: 8080,
    publicUrl: undefined,
    quotas: { perFirm: 30_000, perAddress: 60_000 },
    trustedProxies: [],
    concurrency: { requests: 64, requestsPerFirm: 8, uploads: 96, uploadsPerFirm: 32 },
    corsOrigins: [],
    objectsOrigin: undefined,
    jwt: { issuer: 'call-analysis', audience: 'call-analysis', key: { kind: 'secret', secret: JWT_SECRET } },
    bus: { transport: 'kafka', kafka: brokers.settings },
    objects: { store: 's3' },
    keyManagement: 'key-management:50051',
    ingest: 'ingest:50051',
    audio: 'audio:50051',
    analysis: 'analysis:50051',
    webhooks: 'webhooks:50051',
    tls: undefined,
  },
  // A public key can replace the secret.
  replaceable: ['JWT_SECRET'],
  secret: 'JWT_SECRET',
  refusals: [
    [{ JWT_SECRET: '' }, ['JWT_SECRET or JWT_PUBLIC_KEY_FILE must be set.']],
    [{ JWT_SECRET: 'short' }, ['JWT_SECRET must have at least 32 bytes.']],
    [{ JWT_PUBLIC_KEY_FILE: '/key.pem' }, ['JWT_SECRET and JWT_PUBLIC_KEY_FILE are both set; set only one of them.']],
    [
      { JWT_SECRET: '', JWT_PUBLIC_KEY_FILE: '/no/key.pem' },
      ['JWT_PUBLIC_KEY_FILE names /no/key.pem, which cannot be read (ENOENT).'],
    ],
    [{ PORT: '99999' }, ['PORT must be a port from 0 to 65535, not "99999".']],
    [{ PUBLIC_URL: 'calls.example.org' }, ['PUBLIC_URL must be a URL, not "calls.example.org".']],
    [{ PUBLIC_URL: 'https://example.org/calls?' }, ['PUBLIC_URL must be a URL without user, query and fragment']],
    [{ PUBLIC_URL: 'https://me:secret@example.org' }, ['PUBLIC_URL must be a URL without user, query and fragment']],
    [{ RATE_LIMIT_PER_FIRM: 'many' }, ['RATE_LIMIT_PER_FIRM must be a whole number of requests per minute']],
    [{ TRUST_PROXY: '10.0.0.0/33' }, ['TRUST_PROXY must be addresses or networks']],
    [{ CORS_ORIGINS: 'https://example.com/' }, ['CORS_ORIGINS must be origins']],
    ...brokers.refusals,
    // The gateway then serves what is encrypted.
    [{ ENCRYPTION_KEY: `one:${Buffer.alloc(32).toString('base64')}` }, ['S3_ENDPOINT']],
    [{ ENCRYPTION_KEY: 'one:short' }, ['ENCRYPTION_KEY or ENCRYPTION_KEY_FILE cannot be used: line 1 is not an id']],
    [{ AUDIO_ADDRESS: 'audio' }, ['AUDIO_ADDRESS must be written like host:port, not "audio".']],
    ...calling.refusals,
  ],
  wrong: [
    { PORT: 'x', DRAIN: 'soon' },
    [
      'PORT must be a port',
      'JWT_SECRET or JWT_PUBLIC_KEY_FILE must be set',
      'KAFKA_BROKERS must be set',
      'KEY_MANAGEMENT_ADDRESS must be set',
      'INGEST_ADDRESS must be set',
      'AUDIO_ADDRESS must be set',
      'ANALYSIS_ADDRESS must be set',
      'WEBHOOKS_ADDRESS must be set',
      'DRAIN must be a duration',
    ],
  ],
});
