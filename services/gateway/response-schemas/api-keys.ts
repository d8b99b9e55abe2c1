import { z } from 'zod';
import { pageOf, Time, Uuid } from './fields.ts';

/** external-interface.md, "Endpoints" 1 to 3. */

const firm = z.object({ uuid: Uuid, name: z.string() });
const exampleFirm = { uuid: '1a2b3c4d-0000-4000-8000-000000000001', name: 'Acme' };

export const CreatedKey = z
  .object({
    api_key: z.string().meta({ description: 'Shown this once. Write it in single quotes in a shell: it has a `$`.' }),
    key_prefix: z.string(),
    firm,
  })
  .meta({
    id: 'CreatedApiKey',
    examples: [
      { api_key: '1a2b3c4$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ', key_prefix: '1a2b3c4', firm: exampleFirm },
    ],
  });

const KeyItem = z.object({
  uuid: Uuid,
  key_prefix: z.string(),
  is_active: z.boolean(),
  firm,
  created_at: Time,
  last_used: Time.nullable().meta({ description: 'At most a minute behind.' }),
});

export const KeyPage = pageOf(KeyItem).meta({
  id: 'ApiKeyPage',
  examples: [
    {
      count: 1,
      items: [
        {
          uuid: '019a4f3e-1111-7000-8000-000000000001',
          key_prefix: '1a2b3c4',
          is_active: true,
          firm: exampleFirm,
          created_at: '2026-10-01T18:00:00.120Z',
          last_used: null,
        },
      ],
    },
  ],
});
