import { type FieldFault, invalidFields, nameFault } from '@call-analysis/fault';
import { z } from 'zod';
import { ROLES } from './domain.ts';

const MAX_PAGE_SIZE = 100;
const MAX_AUDIT_ENTRIES = 1000;
const MAX_KEYS_PER_REQUEST = 200;

/** Identifies something existing. Any uuid is allowed, so that an unknown one is not found rather than invalid. */
const Uuid = z.guid('must be a uuid').toLowerCase();

/** The uuid of something new. Events contain it, and they allow versions 1 to 8 only. */
const NewUuid = z.uuid('must be a uuid of version 1 to 8').toLowerCase();

/** proto3 sends an absent string as an empty one. */
const absentWhenEmpty = z.string().transform((text) => (text === '' ? undefined : text));

/** Trimmed, 1 to 255 code points. */
const Name = z
  .string()
  .trim()
  .refine((text) => text !== '' && [...text].length <= 255, 'must have 1 to 255 characters')
  .superRefine((text, context) => {
    const message = nameFault(text);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });

const Country = z
  .string()
  .trim()
  .regex(/^[A-Za-z]{2}$/, 'must be a two-letter ISO 3166 code')
  .toUpperCase();

const Caller = z
  .object({ user_uuid: Uuid, role: z.string(), address: z.string() })
  .transform(({ user_uuid: name, role, address }) => ({ name, role, address }));

export const CreateKey = z.object({ actor: Caller, firm_uuid: Uuid });
export const ListKeys = z.object({ actor: Caller, page: z.int().min(1), size: z.int().min(1).max(MAX_PAGE_SIZE) });
export const DeleteKey = z.object({ actor: Caller, key_uuid: Uuid });
// A malformed key is a verdict, not an invalid request.
export const VerifyKeys = z.object({ api_keys: z.array(z.string()).max(MAX_KEYS_PER_REQUEST) });
export const FindUser = z.object({ user_uuid: Uuid });
export const FindFirm = z.object({ firm_uuid: Uuid });
export const CreateFirm = z.object({
  uuid: absentWhenEmpty.pipe(NewUuid.optional()),
  name: Name,
  country: Country,
  segment_types: z.array(Name).transform((names) => [...new Set(names)]),
});
export const AddSegmentType = z.object({ firm_uuid: Uuid, name: Name });
export const CreateUser = z.object({ firm_uuid: Uuid, name: Name, role: z.enum(ROLES) });
export const ListUsers = z.object({ firm_uuid: Uuid });
export const RemoveUser = z.object({ user_uuid: Uuid });
export const ListAudit = z.object({
  firm_uuid: absentWhenEmpty.pipe(Uuid.optional()),
  limit: z.int().min(1).max(MAX_AUDIT_ENTRIES),
});

/** Parses a request. Fault: VALIDATION_ERROR, which names every invalid field. */
export function parse<Request>(schema: z.ZodType<Request>, request: unknown): Request {
  const result = schema.safeParse(request);
  if (result.success) return result.data;
  throw invalidFields(result.error.issues.map(toFieldFault));
}

// The message does not contain the value, because it may be an API key.
function toFieldFault(issue: z.core.$ZodIssue): FieldFault {
  return { field: issue.path.join('.'), code: 'INVALID', message: issue.message };
}
