import { z } from 'zod';
import { pageOf, Time, Uuid } from '../fields.ts';

/** docs/api.md, "Keys and users". */

const Firm = z.object({ uuid: Uuid, name: z.string() }).meta({ id: 'Firm' });
const exampleFirm = { uuid: '1a2b3c4d-0000-4000-8000-000000000001', name: 'Acme' };

export const CreatedKey = z
  .object({
    api_key: z
      .string()
      .meta({ description: 'Shown only this once. Put it in single quotes in a shell: it contains a `$`.' }),
    key_prefix: z.string(),
    firm: Firm,
  })
  .meta({
    id: 'CreatedApiKey',
    examples: [
      { api_key: '1a2b3c4$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ', key_prefix: '1a2b3c4', firm: exampleFirm },
    ],
  });

const ApiKey = z
  .object({
    uuid: Uuid,
    key_prefix: z.string(),
    is_active: z.boolean(),
    firm: Firm,
    created_at: Time,
    last_used: Time.nullable().meta({ description: 'Up to one minute late. Null before the first use.' }),
    expires_at: Time.optional().meta({ description: 'Only of a key that expires.' }),
  })
  .meta({ id: 'ApiKey' });

export const KeyPage = pageOf(ApiKey, 'ApiKeyPage', {
  uuid: '019a4f3e-1111-7000-8000-000000000001',
  key_prefix: '1a2b3c4',
  is_active: true,
  firm: exampleFirm,
  created_at: '2026-10-01T18:00:00.120Z',
  last_used: null,
});
