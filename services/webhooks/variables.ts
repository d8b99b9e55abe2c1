import { z } from 'zod';

export const WebhookVariables = z.object({
  WEBHOOK_ALLOW_PRIVATE: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .meta({
      description:
        'Whether webhooks may use http and addresses that are not public (loopback, private networks, cloud metadata). For tests on one machine and closed networks.',
    }),
});
