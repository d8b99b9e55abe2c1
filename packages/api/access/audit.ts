import { z } from 'zod';
import { pageOf, Time } from '../fields.ts';

const AuditEntry = z
  .object({
    at: Time,
    actor: z.string().meta({
      description:
        "A user's uuid, `admin` for the admin command, or `unknown` for a caller who could not be identified.",
    }),
    actor_name: z.string().nullable().meta({ description: 'The name of a user of the firm, also of a removed one.' }),
    action: z.string(),
    subject: z.string().meta({
      description: 'A uuid. If the action concerns a part that has no uuid, a slash and the name of the part follow.',
    }),
    subject_name: z
      .string()
      .nullable()
      .meta({ description: "The subject's name, if the subject is a user of the firm." }),
    request_id: z.string(),
    address: z.string().meta({ description: 'The network address of the actor, or `local` for the admin command.' }),
    code: z.string().optional().meta({ description: 'Only of a refused request: the error code of its response.' }),
  })
  .meta({ id: 'AuditEntry' });

/** docs/api.md, "Keys and users". */
export const AuditPage = pageOf(AuditEntry, 'AuditPage', {
  at: '2026-10-01T18:00:00.120Z',
  actor: '019a4f3e-2222-7000-8000-000000000001',
  actor_name: 'Aziza Karimova',
  action: 'call.erased',
  subject: '019a4f3e-1111-7000-8000-000000000001',
  subject_name: null,
  request_id: '5b2c6c1e-8f1b-4a3e-9d57-0c6f5a1b2c3d',
  address: '203.0.113.7',
});
